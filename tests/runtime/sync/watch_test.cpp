// watch_test.cpp: readers see the latest version, and never miss it.
// SPDX-License-Identifier: MIT
#include <tandem/watch.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sync/virtual_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::watch;
using tandem::watch_reader;
using tandem::with_scope;
using tandem::test::settle;
using tandem::test::test_runtime;

task<void> follow(watch_reader<int>& reader, std::string& log) {
  while (auto latest = co_await reader.next()) log += static_cast<char>('0' + *latest);
  log += 'e';
}

TEST(watch, a_reader_sees_the_first_value_at_once_and_then_each_change) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    watch<int> w(1);
    std::string log;
    auto reader = w.subscribe();
    auto follower = tandem::spawn(follow(reader, log));
    for (int i = 2; i <= 4; ++i) {
      co_await settle();
      EXPECT_TRUE(w.set(i));
    }
    co_await settle();
    w.close();
    co_await follower;
    EXPECT_EQ(log, "1234e");
    EXPECT_EQ(w.version(), 4U);
  }());
}

TEST(watch, the_slow_see_the_latest_value_only) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    watch<int> w(1);
    auto reader = w.subscribe();
    for (int i = 2; i <= 9; ++i) w.set(i);
    EXPECT_EQ(co_await reader.next(), 9);
    EXPECT_FALSE(reader.has_changed());
    w.set(3);
    EXPECT_TRUE(reader.has_changed());
    w.close();
    EXPECT_TRUE(co_await reader.changed()) << "the last version comes before the end";
    EXPECT_EQ(reader.get(), 3);
    EXPECT_FALSE(co_await reader.changed());
    EXPECT_EQ(co_await reader.next(), std::nullopt);
    EXPECT_EQ(reader.get(), 3);
  }());
}

TEST(watch, what_was_read_counts_as_seen) {
  watch<std::string> w("text that is too long for the small buffer");
  auto reader = w.subscribe();
  EXPECT_TRUE(reader.has_changed());
  EXPECT_EQ(reader.get(), w.get());
  EXPECT_FALSE(reader.has_changed());
  w.set("other");
  EXPECT_EQ(reader.read([](const std::string& text) { return text.size(); }), 5U);
  EXPECT_FALSE(reader.has_changed());
}

TEST(watch, a_closed_one_is_set_no_more) {
  watch<std::unique_ptr<int>> w(std::make_unique<int>(1));
  w.close();
  w.close();
  auto value = std::make_unique<int>(2);
  EXPECT_FALSE(w.set(std::move(value)));
  EXPECT_TRUE(value);
  EXPECT_FALSE(w.update([](auto&) { FAIL(); }));
  EXPECT_EQ(w.read([](const auto& held) { return *held; }), 1);
}

TEST(watch, changes_in_place_wake_only_if_something_has_changed) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    watch<std::vector<int>> w;
    auto reader = w.subscribe();
    (void)reader.get();
    auto waits = tandem::spawn([](watch_reader<std::vector<int>>& of) -> task<bool> {
      co_return co_await of.changed();
    }(reader));
    co_await settle();
    EXPECT_TRUE(w.update([](std::vector<int>&) { return false; }));
    EXPECT_THROW(w.update([](std::vector<int>&) { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_EQ(w.version(), 1U);
    co_await settle();
    EXPECT_FALSE(waits.is_done());
    EXPECT_TRUE(w.update([](std::vector<int>& all) { all.push_back(7); }));
    EXPECT_TRUE(co_await waits);
    EXPECT_EQ(w.get(), std::vector<int>{7});
  }());
}

TEST(watch, a_wait_that_is_stopped_has_seen_nothing) {
  test_runtime rt(tandem::test::on_virtual_clock());
  rt.run([]() -> task<void> {
    watch<int> w(1);
    auto reader = w.subscribe();
    EXPECT_EQ(reader.get(), 1);
    EXPECT_TRUE((co_await as_result(tandem::with_timeout(1s, reader.changed()))).is_cancelled());
    w.set(2);
    EXPECT_EQ(co_await reader.next(), 2);
  }());
}

TEST(watch, waits_for_a_value_that_is_right) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    watch<int> w(1);
    auto reader = w.subscribe();
    EXPECT_EQ(co_await reader.wait_for([](int value) { return value == 1; }), 1);
    std::string log;
    auto waits = tandem::spawn([](watch_reader<int>& of, std::string& asked) -> task<int> {
      const auto found = co_await of.wait_for([&](int value) {
        asked += static_cast<char>('0' + value);
        return value > 3;
      });
      co_return found.value_or(0);
    }(reader, log));
    for (int i = 2; i <= 4; ++i) {
      co_await settle();
      w.set(i);
    }
    EXPECT_EQ(co_await waits, 4);
    EXPECT_EQ(log, "1234");
    w.close();
    EXPECT_EQ(co_await reader.wait_for([](int value) { return value == 1; }), std::nullopt);
    EXPECT_FALSE((co_await as_result(reader.wait_for([](int) -> bool {
                   throw std::runtime_error("no");
                 }))).has_value());
  }());
}

TEST(watch, all_that_wait_hear_of_a_change) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    constexpr std::size_t readers = 1000;
    watch<int> w(0);
    std::atomic<std::size_t> seen{0};
    std::vector<watch_reader<int>> all;
    for (std::size_t i = 0; i < readers; ++i) {
      all.push_back(w.subscribe());
      (void)all.back().get();
    }
    EXPECT_EQ(w.readers(), readers);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (auto& each : all) {
        scope.spawn([](watch_reader<int>& of, std::atomic<std::size_t>& count) -> task<void> {
          if (co_await of.next() == 7) ++count;
        }(each, seen));
      }
      co_await settle();
      w.set(7);
    });
    EXPECT_EQ(seen, readers);
  }());
}

/// The first copies of it fail.
class hard_to_copy {
 public:
  hard_to_copy(int of, int& failures) : value(of), failures_(&failures) {}
  hard_to_copy(const hard_to_copy& other) : value(other.value), failures_(other.failures_) {
    if (*failures_ > 0) {
      --*failures_;
      throw std::runtime_error("not this time");
    }
  }
  hard_to_copy(hard_to_copy&&) noexcept = default;
  hard_to_copy& operator=(const hard_to_copy&) = delete;
  ~hard_to_copy() = default;
  int value;

 private:
  int* failures_;
};

TEST(watch, a_version_whose_copy_failed_has_not_been_seen) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    int failures = 1;
    watch<hard_to_copy> w(1, failures);
    auto reader = w.subscribe();
    const auto first = co_await as_result(reader.next());
    EXPECT_FALSE(first.has_value());
    EXPECT_TRUE(reader.has_changed());
    const auto again = co_await reader.next();
    EXPECT_TRUE(again.has_value() && again->value == 1);
    EXPECT_FALSE(reader.has_changed());
  }());
}

TEST(watch, a_dump_says_who_waits_and_at_which_version) {
  test_runtime rt(tandem::test::on_virtual_clock());
  watch<int> w(1);
  std::string log;
  {
    auto reader = w.subscribe();
    auto waits = rt->spawn(follow(reader, log));
    rt->run_until_idle();
    const std::string dump = rt->dump();
    EXPECT_NE(dump.find("waits for a change of a watch"), std::string::npos) << dump;
    EXPECT_NE(dump.find("that is at version 1"), std::string::npos) << dump;
    EXPECT_EQ(w.waiting(), 1U);
    w.close();
    waits.wait();
  }
  EXPECT_EQ(log, "1e");
}

}  // namespace
