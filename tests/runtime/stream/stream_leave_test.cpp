// stream_leave_test.cpp: a stream that is left is awaited to its end, wherever it stands.
// SPDX-License-Identifier: MIT
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/shielded.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "runtime/stream/stream_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::elements_of;
using tandem::flow;
using tandem::for_each;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::stream;
using tandem::task;
using tandem::test::by_virtual_time;
using tandem::test::count_to;
using tandem::test::ints;
using tandem::test::planned_failure;
using tandem::test::slowly_to;
using tandem::test::watched;
namespace streams = tandem::streams;

/// Cleans up by hand, and says what it was told.
stream<int> careful(std::string& log) {
  std::exception_ptr left;
  try {
    for (int i = 1;; ++i) co_yield int(i);
  } catch (const operation_cancelled& e) {
    log += e.reason() == stop_reason::parent ? "left " : "stopped ";
    left = std::current_exception();
  }
  co_await tandem::sleep_for(1s);
  log += "cleaned ";
  std::rethrow_exception(left);
}

TEST(leaving, a_stream_is_told_at_its_yield_and_awaited) {
  EXPECT_EQ(0, by_virtual_time([]() -> task<void> {
              std::string log;
              co_await for_each(careful(log), [](int) { return flow::leave; });
              log += "next ";
              EXPECT_THROW(co_await for_each(careful(log), [](int) { throw planned_failure(); }),
                           planned_failure);
              log += "next ";
              co_await tandem::with_stream(
                  careful(log), [](auto& items) -> task<void> { (void)co_await items.next(); });
              EXPECT_EQ(log, "left cleaned next left cleaned next left cleaned ");
            }()));
}

TEST(leaving, a_stopped_consumer_waits_for_a_clean_up_that_is_not_stopped) {
  EXPECT_EQ(0, by_virtual_time([]() -> task<void> {
              std::string log;
              const auto ended = co_await tandem::as_result(tandem::with_timeout(
                  1ms, for_each(careful(log),
                                [](int) -> task<void> { co_await tandem::sleep_for(1h); })));
              EXPECT_EQ(ended.reason(), stop_reason::deadline);
              EXPECT_EQ(log, "stopped cleaned ");
            }()));
}

TEST(leaving, a_clean_up_that_takes_too_long_is_stopped_and_reported) {
  EXPECT_EQ(1, by_virtual_time([]() -> task<void> {
              std::string log;
              const auto began = tandem::now();
              const auto cut = co_await tandem::as_result(
                  for_each(careful(log), [](int) { return flow::leave; }, 10ms));
              EXPECT_EQ(cut.reason(), stop_reason::deadline);
              EXPECT_THROW(co_await for_each(
                               careful(log), [](int) { throw planned_failure(); }, 10ms),
                           planned_failure);
              EXPECT_EQ(tandem::now() - began, 20ms);
              EXPECT_EQ(log, "left left ");
            }()));
}

stream<int> fails_when_left() {
  try {
    co_yield 1;
  } catch (const operation_cancelled&) {
    throw planned_failure();
  }
}

TEST(leaving, a_failure_of_the_clean_up_arrives_or_is_reported_beside_another_one) {
  EXPECT_EQ(1, by_virtual_time([]() -> task<void> {
              EXPECT_THROW(co_await for_each(fails_when_left(), [](int) { return flow::leave; }),
                           planned_failure);
              EXPECT_THROW(co_await for_each(fails_when_left(), [](int) { throw 1; }), int);
            }()));
}

stream<int> stubborn(std::string& log, int times) {
  for (int i = 0; i < times; ++i) {
    try {
      co_yield int(i);
    } catch (const operation_cancelled&) {
      log += "cancelled ";
    } catch (const std::logic_error&) {
      log += "told ";
    }
  }
  log += "ended ";
}
stream<int> around(std::string& log) {
  try {
    co_yield elements_of(stubborn(log, 10));
  } catch (const std::logic_error&) {
    log += "outer ";
    throw;
  }
}

TEST(leaving, a_stream_that_goes_on_yielding_is_told_once_and_then_destroyed) {
  by_virtual_time([]() -> task<void> {
    std::string log;
    EXPECT_THROW(co_await for_each(stubborn(log, 10), [](int) { return flow::leave; }),
                 std::logic_error);
    EXPECT_EQ(log, "cancelled told ");
    log.clear();
    EXPECT_THROW(co_await for_each(around(log), [](int) { return flow::leave; }), std::logic_error);
    EXPECT_EQ(log, "cancelled told outer ");
    log.clear();
    co_await for_each(stubborn(log, 1), [](int) { return flow::leave; });
    EXPECT_EQ(log, "cancelled ended ");
  }());
}

class noted {
 public:
  noted(std::string& log, char name) : log_(&log), name_(name) {}
  noted(noted&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(other.name_) {}
  noted& operator=(noted&&) = delete;
  ~noted() {
    if (log_ != nullptr) *log_ += name_;
  }

 private:
  std::string* log_;
  char name_;
};
stream<int> level(std::string& log, char name) {
  const noted here(log, name);
  if (name != 'c') co_yield elements_of(level(log, static_cast<char>(name + 1)));
  for (int i = 0; i < 9; ++i) co_yield int(i);
}

TEST(leaving, ends_the_innermost_first) {
  by_virtual_time([]() -> task<void> {
    std::string log;
    const auto say = [&log](char name) { return [&log, name] { log += name; }; };
    co_await for_each(level(log, 'a') | streams::finally(say('1')) |
                          streams::map([](int i) { return i; }) | streams::finally(say('2')) |
                          streams::take(2),
                      [](int) {});
    EXPECT_EQ(log, "cba12");
  }());
}

/// Something happens at the `at`-th place of a run: a stop, a failure, or a `break`.
class trial {
 public:
  enum class what : std::uint8_t { nothing, stop, fail, leave };

  trial(what kind, int at) : kind_(kind), at_(at) {}
  void in(tandem::task_scope& scope) { scope_ = &scope; }
  int reached() const noexcept { return reached_; }

  /// @returns  whether it is here that the consumer leaves
  bool step() {
    if (reached_++ != at_) return false;
    if (kind_ == what::stop) scope_->request_stop();
    if (kind_ == what::fail) throw planned_failure();
    return kind_ == what::leave;
  }

 private:
  what kind_;
  int at_;
  int reached_ = 0;
  tandem::task_scope* scope_ = nullptr;
};

/// Awaits and yields, with a place before and after each.
stream<int> places(trial& run, [[maybe_unused]] std::shared_ptr<int> alive, int n) {
  for (int i = 1; i <= n; ++i) {
    (void)run.step();
    co_await tandem::sleep_for(std::chrono::milliseconds(i % 3));
    (void)run.step();
    co_yield int(i);
    (void)run.step();
  }
}
task<int> changed(trial& run, [[maybe_unused]] std::shared_ptr<int> alive, int item) {
  (void)run.step();
  co_await tandem::sleep_for(1ms);
  (void)run.step();
  co_return item;
}

using build = stream<int> (*)(trial& run, watched& around, const std::shared_ptr<int>& alive);

stream<int> source(trial& run, watched& around, const std::shared_ptr<int>& alive) {
  return around.items(places(run, alive, 4));
}
stream<int> nested(trial& run, watched& around, const std::shared_ptr<int>& alive) {
  return streams::flat_map(source(run, around, alive), [&run, &around, &alive](int) {
    return around.items(places(run, alive, 2));
  });
}
struct named_build {
  const char* name;
  build make;
};
const named_build builds[] = {
    {"source", source},
    {"stages",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return source(run, around, alive) |
              streams::map([&run, &alive](int i) { return changed(run, alive, i); }) |
              streams::filter([](int i) { return i != 2; }) | streams::skip(1) | streams::take(2);
     }},
    {"flat_map", nested},
    {"timeout",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return source(run, around, alive) | streams::timeout(2500us);
     }},
    {"merge",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return streams::merge(source(run, around, alive), source(run, around, alive),
                             nested(run, around, alive));
     }},
    {"buffered",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return streams::buffered(source(run, around, alive), 3,
                                [&run, &alive](int i) { return changed(run, alive, i); });
     }},
    {"buffered_unordered",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return source(run, around, alive) |
              streams::buffered_unordered(
                  2, [&run, &alive](int i) { return changed(run, alive, i); }) |
              streams::take(3);
     }},
    {"chunks",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return source(run, around, alive) | streams::chunks(3, 1ms) |
              streams::flat_map([](const ints& chunk) { return chunk; });
     }},
    {"zip",
     [](trial& run, watched& around, const std::shared_ptr<int>& alive) {
       return streams::zip(source(run, around, alive), nested(run, around, alive)) |
              streams::map([](const std::pair<int, int>& both) { return both.first; });
     }},
};

/// The line after the stream sees nothing open, and nothing alive. @returns how many places there
/// were
int play(const build& make, trial::what kind, int at, std::uint64_t seed) {
  trial run(kind, at);
  watched around;
  const auto alive = std::make_shared<int>(0);
  int open_after = -1;
  const auto body = [&]() -> task<void> {
    const auto inside = [&](tandem::task_scope& scope) -> task<void> {
      run.in(scope);
      std::exception_ptr failure;
      try {
        co_await for_each(make(run, around, alive), [&](int) -> task<flow> {
          bool leaves = run.step();
          co_await tandem::yield();
          leaves = run.step() || leaves;
          co_return leaves ? flow::leave : flow::go_on;
        });
      } catch (...) {
        failure = std::current_exception();
      }
      open_after = around.open();
      if (failure != nullptr) std::rethrow_exception(failure);
    };
    try {
      co_await tandem::with_scope(inside);
    } catch (const planned_failure&) {
      EXPECT_EQ(kind, trial::what::fail);
    } catch (const operation_cancelled&) {  // by the stop, or an item's time limit
    }
  };
  EXPECT_EQ(by_virtual_time(body(), seed, 1 + static_cast<unsigned>(seed % 3)), 0);
  EXPECT_EQ(open_after, 0);
  EXPECT_EQ(alive.use_count(), 1);
  return run.reached();
}

TEST(leaving, at_any_place_the_clean_up_has_run_before_the_next_line) {
  for (const auto& [name, make] : builds) {
    SCOPED_TRACE(name);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const int places = play(make, trial::what::nothing, -1, seed);
      EXPECT_GT(places, 6);
      for (const auto kind : {trial::what::stop, trial::what::fail, trial::what::leave}) {
        for (int at = 0; at < places; ++at) {
          SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << ", place " << at
                                            << ", seed " << seed);
          (void)play(make, kind, at, seed);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
