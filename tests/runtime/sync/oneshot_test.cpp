// oneshot_test.cpp: one value, or why there is none; and two ends, each of which may go first.
// SPDX-License-Identifier: MIT
#include <tandem/oneshot.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tandem/channel.hpp>
#include <tandem/dump.hpp>
#include <tandem/when_any.hpp>
#include <thread>
#include <utility>

#include "runtime/sync/virtual_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::errc;
using tandem::oneshot;
using tandem::oneshot_receiver;
using tandem::oneshot_sender;
using tandem::task;
using tandem::test::settle;
using tandem::test::test_runtime;
using boxed = std::unique_ptr<int>;

TEST(oneshot, what_was_sent_before_is_received_at_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    auto [sender, receiver] = oneshot<boxed>();
    EXPECT_TRUE(sender);
    EXPECT_TRUE(sender.send(std::make_unique<int>(7)));
    EXPECT_FALSE(sender) << "it sends once";
    EXPECT_EQ(*co_await receiver.receive(), 7);
  }());
}

TEST(oneshot, a_receive_waits_for_the_value) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<std::string> answer;
    auto waits = tandem::spawn([](oneshot_receiver<std::string> from) -> task<std::string> {
      co_return co_await from.receive();
    }(std::move(answer.receiver)));
    co_await settle();
    EXPECT_FALSE(waits.is_done());
    const std::string text = "a text that is too long for the small buffer";
    EXPECT_TRUE(answer.sender.send(text));
    EXPECT_EQ(co_await waits, text);
  }());
}

/// A request that brings the way to its answer.
struct question {
  question(int one, int other, oneshot_sender<int> where)
      : a(one), b(other), answer(std::move(where)) {}
  int a;
  int b;
  oneshot_sender<int> answer;
};

TEST(oneshot, carries_the_answer_to_a_question_that_went_through_a_channel) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    tandem::channel<question> questions(4);
    auto answers = tandem::spawn([](tandem::channel<question>& from) -> task<void> {
      while (auto each = co_await from.receive()) each->answer.send(each->a * each->b);
    }(questions));
    for (int i = 0; i < 3; ++i) {
      oneshot<int> answer;
      co_await questions.send(question(6, i, std::move(answer.sender)));
      EXPECT_EQ(co_await answer.receiver.receive(), 6 * i);
    }
    questions.close();
    co_await answers;
  }());
}

TEST(oneshot, of_void_says_that_something_is_done) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<void> done;
    auto waits = tandem::spawn([](oneshot_receiver<void> from) -> task<void> {
      co_await from.receive();
    }(std::move(done.receiver)));
    co_await settle();
    EXPECT_FALSE(waits.is_done());
    EXPECT_TRUE(done.sender.send());
    co_await waits;
  }());
}

TEST(oneshot, a_sender_that_goes_without_a_value_is_heard_of_at_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<int> before;
    before.sender = {};
    const auto got = co_await as_result(before.receiver.receive());
    EXPECT_EQ(got.error(), errc::sender_dropped);

    oneshot<int> during;
    auto waits = tandem::spawn([](oneshot_receiver<int> from) -> task<std::error_code> {
      try {
        co_await from.receive();
        co_return std::error_code();
      } catch (const std::system_error& error) {
        co_return error.code();
      }
    }(std::move(during.receiver)));
    co_await settle();
    { const oneshot_sender<int> gone = std::move(during.sender); }
    EXPECT_EQ(co_await waits, errc::sender_dropped);
  }());
}

TEST(oneshot, a_failure_is_sent_in_the_place_of_a_value) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<int> thrown;
    EXPECT_TRUE(thrown.sender.fail(std::make_exception_ptr(std::runtime_error("no idea"))));
    std::string text;
    try {
      co_await thrown.receiver.receive();
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "no idea");
    oneshot<int> code;
    EXPECT_TRUE(code.sender.fail(std::make_error_code(std::errc::no_such_file_or_directory)));
    const auto got = co_await as_result(tandem::with_timeout(1h, code.receiver.receive()));
    EXPECT_EQ(got.error(), std::errc::no_such_file_or_directory);
  }());
}

TEST(oneshot, a_value_that_is_an_error_is_a_value) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<std::error_code> code;
    EXPECT_TRUE(code.sender.send(make_error_code(errc::callback_dropped)));
    EXPECT_EQ(co_await code.receiver.receive(), errc::callback_dropped);
  }());
}

TEST(oneshot, a_sender_whose_receiver_is_gone_keeps_its_value) {
  oneshot<boxed> answer;
  EXPECT_FALSE(answer.sender.is_closed());
  answer.receiver = {};
  EXPECT_TRUE(answer.sender.is_closed());
  boxed value = std::make_unique<int>(7);
  EXPECT_FALSE(answer.sender.send(std::move(value)));
  EXPECT_TRUE(value);
  EXPECT_TRUE(answer.sender);
}

TEST(oneshot, a_closed_receiver_gets_what_was_sent_before) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<int> sent;
    EXPECT_TRUE(sent.sender.send(7));
    sent.receiver.close();
    EXPECT_EQ(co_await sent.receiver.receive(), 7);
    oneshot<int> none;
    none.receiver.close();
    EXPECT_FALSE(none.sender.send(7));
    EXPECT_EQ((co_await as_result(none.receiver.receive())).error(), errc::channel_closed);
  }());
}

TEST(oneshot, the_value_is_received_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<int> answer;
    EXPECT_FALSE(answer.receiver.try_receive());
    EXPECT_TRUE(answer.sender.send(7));
    EXPECT_EQ(answer.receiver.try_receive()->value(), 7);
    EXPECT_EQ(answer.receiver.try_receive()->error(), errc::channel_closed);
    EXPECT_EQ((co_await as_result(answer.receiver.receive())).error(), errc::channel_closed);
  }());
}

TEST(oneshot, a_receive_that_is_stopped_leaves_the_value_to_the_next) {
  test_runtime rt(tandem::test::on_virtual_clock());
  rt.run([]() -> task<void> {
    oneshot<boxed> answer;
    auto late = co_await as_result(tandem::with_timeout(1s, answer.receiver.receive()));
    EXPECT_EQ(late.reason(), tandem::stop_reason::deadline);
    EXPECT_FALSE(answer.sender.is_closed());
    EXPECT_TRUE(answer.sender.send(std::make_unique<int>(7)));
    EXPECT_EQ(*co_await answer.receiver.receive(), 7);
  }());
}

TEST(oneshot, the_sender_hears_that_nobody_needs_the_value) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    oneshot<int> answer;
    auto worker = tandem::spawn([](oneshot_sender<int> to) -> task<bool> {
      co_await to.closed();
      co_return to.is_closed();
    }(std::move(answer.sender)));
    auto asker = tandem::spawn([](oneshot_receiver<int> from) -> task<int> {
      co_return co_await from.receive();
    }(std::move(answer.receiver)));
    co_await settle();
    EXPECT_FALSE(worker.is_done());
    asker.cancel();  // its frame goes, and the receiver with it
    EXPECT_TRUE((co_await as_result(std::move(asker))).is_cancelled());
    EXPECT_TRUE(co_await worker);
    oneshot<int> closed;
    closed.receiver.close();
    co_await closed.sender.closed();
  }());
}

TEST(oneshot, the_second_end_to_go_takes_the_value_along) {
  auto value = std::make_shared<int>(7);
  {
    oneshot<std::shared_ptr<int>> answer;
    EXPECT_TRUE(answer.sender.send(value));
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
  oneshot<std::shared_ptr<int>> late;
  late.receiver = {};
  late.sender = {};
}

TEST(oneshot, a_thread_outside_of_any_task_may_send) {
  test_runtime rt(1);
  for (int i = 0; i < 100; ++i) {
    auto [sender, receiver] = oneshot<int>();
    std::thread other([to = std::move(sender), i]() mutable { to.send(i); });
    EXPECT_EQ(rt.run([](oneshot_receiver<int> from) -> task<int> {
      co_return co_await from.receive();
    }(std::move(receiver))),
              i);
    other.join();
  }
}

TEST(oneshot, allocates_nothing_beyond_the_memory_of_frames) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    long before = 0;
    for (int i = 0; i < 200; ++i) {
      if (i == 100) before = tandem::test::news();
      oneshot<int> answer;
      answer.sender.send(i);
      EXPECT_EQ(co_await answer.receiver.receive(), i);
    }
    EXPECT_EQ(tandem::test::news(), before);
  }());
}

TEST(oneshot, a_dump_says_what_it_waits_for) {
  test_runtime rt(tandem::test::on_virtual_clock());
  oneshot<int> answer;
  auto waits = rt->spawn([](oneshot_receiver<int>& from) -> task<int> {
    co_return co_await from.receive();
  }(answer.receiver));
  rt->run_until_idle();
  const std::string dump = rt->dump();
  EXPECT_NE(dump.find("waits to receive from a oneshot"), std::string::npos) << dump;
  EXPECT_NE(dump.find("to which nobody has sent yet"), std::string::npos) << dump;
  EXPECT_TRUE(answer.sender.send(1));
  EXPECT_EQ(waits.wait(), 1);
}

}  // namespace
