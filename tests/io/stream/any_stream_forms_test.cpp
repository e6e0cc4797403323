// any_stream_forms_test.cpp: streams of one's own whose operations are written in unusual ways.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/stream/any_stream_support.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::any_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;

using room_span = std::span<std::byte>;
using byte_span = std::span<const std::byte>;
using byte_list = std::span<const byte_span>;

/// What streams have that do nothing.
class idle_stream {
 public:
  task<std::size_t> read(room_span) { co_return 0; }
  task<std::size_t> write(byte_span bytes) { co_return bytes.size(); }
  task<void> write_all(byte_span) { co_return; }
  void shutdown() {}
  void close() {}
};

/// Takes its spans by reference, as tcp_stream::write_all() does a list: coroutines that look at
/// them when they run.
class by_reference {
 public:
  explicit by_reference(std::shared_ptr<std::size_t> sum) : sum_(std::move(sum)) {}
  task<std::size_t> read(const room_span& room) {
    co_await tandem::yield();
    co_return room.size();
  }
  task<std::size_t> write(byte_span& bytes) {
    co_await tandem::yield();
    co_return bytes.size();
  }
  task<int> write_all(const byte_span& bytes) {
    co_await tandem::yield();
    *sum_ += bytes.size();
    co_return 0;
  }
  template <tandem::io::buffer_list<const std::byte> B>
  task<void> write_all(const B& buffers) {
    co_await tandem::yield();
    for (const byte_span& each : buffers) *sum_ += each.size();
  }
  void shutdown() {}
  void close() {}

 private:
  std::shared_ptr<std::size_t> sum_;
};

TEST(any_stream_forms, operations_may_take_their_buffers_by_reference) {
  on_every_home([]() -> task<void> {
    const auto sum = std::make_shared<std::size_t>(0);
    any_stream stream = by_reference(sum);
    std::array<std::byte, 7> room{};
    EXPECT_EQ(co_await stream.read(room), 7U);
    EXPECT_EQ(co_await stream.write(room), 7U);
    co_await stream.write_all(room);
    const std::array<byte_span, 2> list{room, byte_span(room).first(3)};
    co_await stream.write_all(list);
    EXPECT_EQ(*sum, 17U);
    EXPECT_EQ(co_await tandem::with_timeout(10s, stream.read(room)), 7U);
  });
}

/// A layer over another stream, which is asked for it.
class layer {
 public:
  explicit layer(any_stream around) : inner(std::move(around)), canary_(std::make_unique<int>(1)) {}
  task<std::size_t> read(room_span room) { co_return co_await inner.read(room); }
  task<std::size_t> write(byte_span bytes) { co_return co_await inner.write(bytes); }
  task<void> write_all(byte_span bytes) { co_await inner.write_all(bytes); }
  void shutdown() { inner.shutdown(); }
  void close() { inner.close(); }

  any_stream inner;

 private:
  std::unique_ptr<int> canary_;
};

TEST(any_stream_forms, a_layer_may_be_taken_off_by_assignment) {
  on_every_home([]() -> task<void> {
    connection tcp = co_await make_connection();
    any_stream stream = layer(any_stream(layer(std::move(tcp.client))));
    for (int i = 0; i < 2; ++i) {
      co_await stream.write_all(bytes_of("ab"));
      auto* const around = stream.target<layer>();
      EXPECT_NE(around, nullptr);
      if (around != nullptr) stream = std::move(around->inner);
    }
    co_await stream.write_all(bytes_of("c"));
    EXPECT_NE(stream.target<tandem::io::tcp_stream>(), nullptr);
    stream = any_stream();
    EXPECT_EQ((co_await tandem::test::read_to_end(tcp.server)).size(), 5U);
  });
}

/// Resumed by a thread of its own; counts who is there.
class on_a_strange_thread {
 public:
  explicit on_a_strange_thread(int& there) : there_(there) { ++there_; }
  on_a_strange_thread(on_a_strange_thread&& other) : on_a_strange_thread(other.there_) {}  // NOLINT
  ~on_a_strange_thread() {
    if (thread_.joinable()) thread_.join();
    --there_;
  }
  bool await_ready() const noexcept { return false; }
  /// The thread resumes no sooner than thread_ is written, which the destructor reads.
  void await_suspend(std::coroutine_handle<> self) {
    const auto is_written = std::make_shared<tandem::test::thread_semaphore>(0);
    thread_ = std::thread([self, is_written] {
      is_written->acquire();
      self.resume();
    });
    is_written->release();
  }
  std::size_t await_resume() const { return 3; }

 private:
  int& there_;
  std::thread thread_;
};

class strange_stream : public idle_stream {
 public:
  class waits {
   public:
    explicit waits(int& there) : there_(&there) {}
    on_a_strange_thread operator co_await() const { return on_a_strange_thread(*there_); }

   private:
    int* there_;
  };
  explicit strange_stream(int& there) : there_(&there) {}
  waits read(room_span) { return waits(*there_); }
  waits write(byte_span) { return waits(*there_); }

 private:
  int* there_;
};

TEST(any_stream_forms, whoever_resumes_them_they_end_at_home) {
  on_every_home([]() -> task<void> {
    int there = 0;
    any_stream stream = strange_stream(there);
    std::array<std::byte, 7> room{};
    const tandem::executor* const home = tandem::detail::this_thread().current_executor;
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(co_await stream.read(room), 3U);
      EXPECT_EQ(co_await stream.write(room), 3U);
      EXPECT_EQ(tandem::detail::this_thread().current_executor, home);
    }
    EXPECT_EQ(there, 0);
  });
}

/// Moves to the workers and stays there.
class leaves_home : public idle_stream {
 public:
  task<int> read(room_span) {
    co_await tandem::resume_on(tandem::workers());
    co_return 5;
  }
};

TEST(any_stream_forms, an_operation_that_ends_elsewhere_resumes_its_caller_at_home) {
  on_every_home([]() -> task<void> {
    any_stream stream = leaves_home();
    std::array<std::byte, 7> room{};
    const tandem::executor* const home = tandem::detail::this_thread().current_executor;
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(co_await stream.read(room), 5U);
      EXPECT_EQ(tandem::detail::this_thread().current_executor, home);
    }
  });
}

enum class at { call, ready, suspend, resume, destroy };

class throwing_wait {
 public:
  explicit throwing_wait(at where) : where_(where) {}
  bool await_ready() const {
    if (where_ == at::ready) throw std::runtime_error("ready");
    return where_ == at::resume;
  }
  void await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("suspend"); }
  std::size_t await_resume() const { throw std::runtime_error("resume"); }

 private:
  at where_;
};

class throwing_stream : public idle_stream {
 public:
  explicit throwing_stream(at where) : where_(where) {}
  throwing_wait read(room_span) {
    if (where_ == at::call) throw std::runtime_error("call");
    return throwing_wait(where_);
  }
  throwing_wait write(byte_span) { return read({}); }
  task<void> write_all(byte_span) {
    if (where_ == at::call) throw std::bad_alloc();
    return [](at where) -> task<void> { (void)co_await throwing_wait(where); }(where_);
  }
  void shutdown() { throw std::logic_error("shutdown"); }
  void close() { throw std::logic_error("close"); }

 private:
  at where_;
};

TEST(any_stream_forms, what_an_operation_throws_wherever_it_throws_comes_out_of_its_await) {
  on_every_home([]() -> task<void> {
    std::array<std::byte, 7> room{};
    const std::array<byte_span, 2> list{room, room};
    for (const at where : {at::call, at::ready, at::suspend, at::resume}) {
      any_stream stream = throwing_stream(where);
      for (int i = 0; i < 3; ++i) {
        EXPECT_THROW((void)co_await stream.read(room), std::runtime_error);
        EXPECT_THROW((void)co_await stream.write(room), std::runtime_error);
        EXPECT_THROW(co_await stream.write_all(room), std::exception);
        EXPECT_THROW(co_await stream.write_all(list), std::exception);
        const auto got = co_await as_result(stream.read(room));
        EXPECT_FALSE(got);
        EXPECT_THROW(std::rethrow_exception(got.exception()), std::runtime_error);
        const auto in_time = co_await as_result(tandem::with_timeout(10s, stream.read(room)));
        EXPECT_FALSE(in_time);
      }
      EXPECT_THROW(stream.shutdown(), std::logic_error);
      EXPECT_TRUE(stream.is_open());
      EXPECT_THROW(stream.close(), std::logic_error);
      EXPECT_FALSE(stream.is_open());
    }
  });
}

/// Throws when it is moved.
class throws_at_move : public idle_stream {
 public:
  throws_at_move() = default;
  throws_at_move(throws_at_move&&) { throw std::runtime_error("move"); }  // NOLINT
};

TEST(any_stream_forms, a_move_that_throws_leaves_nothing) {
  throws_at_move own;
  EXPECT_THROW(any_stream(std::move(own)), std::runtime_error);
}

/// Waits until it is stopped, and counts that.
class patient_stream : public idle_stream {
 public:
  explicit patient_stream(int& stopped) : stopped_(&stopped) {}
  task<long> read(room_span) {
    try {
      co_await tandem::sleep_for(1h);
    } catch (const tandem::operation_cancelled&) {
      ++*stopped_;
      throw;
    }
    co_return 1;
  }

 private:
  int* stopped_;
};

TEST(any_stream_forms, a_stop_at_any_moment_comes_through_and_memory_is_used_again) {
  on_every_home([]() -> task<void> {
    int stopped = 0;
    any_stream stream = patient_stream(stopped);
    std::array<std::byte, 7> room{};
    for (int i = 0; i < 100; ++i) {
      const auto got = co_await as_result(
          tandem::with_timeout(std::chrono::microseconds(i * 3 - 1), stream.read(room)));
      EXPECT_TRUE(got.is_cancelled());
      any_stream elsewhere = std::move(stream);
      stream = std::move(elsewhere);
    }
    EXPECT_GT(stopped, 50);
  });
}

#if !defined(NDEBUG)
using any_stream_forms_death = ::testing::Test;

task<void> close_while_reading() {
  auto [one, other] = tandem::test::make_memory_connection<tandem::test::memory_stream>();
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    any_stream held = std::move(one);
    scope.spawn([](any_stream& stream) -> task<void> {
      std::array<std::byte, 4> room;
      (void)co_await stream.read(room);
    }(held));
    co_await tandem::yield();
    held.close();
    scope.request_stop();
    co_await scope.join();
  });
}

TEST(any_stream_forms_death, close_while_it_reads_is_a_broken_precondition) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // One worker: when the yield is over the child waits in its read, and no other thread touches it.
  tandem::runtime_options options;
  options.min_threads = 1;
  options.max_threads = 1;
  EXPECT_DEATH(tandem::run(close_while_reading(), options), "while an operation was in flight");
}
#endif

}  // namespace
