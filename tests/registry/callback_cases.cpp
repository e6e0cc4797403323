// callback_cases.cpp: the rows of from_callback() and callback_stream().
// SPDX-License-Identifier: MIT
#include <atomic>
#include <mutex>
#include <optional>
#include <tandem/callback_stream.hpp>
#include <tandem/from_callback.hpp>
#include <utility>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace callback_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// A library that calls back when the case is completed.
class from_callback_case : public case_base {
 public:
  struct start {
    from_callback_case* library;
    void operator()(callback<void(int)> done) const { library->begin_call(std::move(done)); }
  };
  struct convert {
    from_callback_case* library;
    int operator()(int value) const {
      if (library->fails_) throw planned_failure();
      return value;
    }
  };

  static constexpr std::string_view name = "from_callback";
  using awaiters = covers<callback_awaiter<void(int), start, convert, abandonable_t>>;
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool ready_at_once = true;

  auto make() { return from_callback<void(int)>(start{this}, convert{this}, abandonable); }
  task<int> in_place() {
    // g++ 12 destroys captures of lambdas that are written inside a co_await twice.
#if defined(__clang__)
    co_return co_await from_callback<void(int)>(
        [this, here = counted()](auto done) { begin_call(std::move(done)); }, convert{this},
        abandonable);
#else
    const auto begin = [this, here = counted()](auto done) { begin_call(std::move(done)); };
    co_return co_await from_callback<void(int)>(begin, convert{this}, abandonable);
#endif
  }
  void complete() {
    std::vector<callback<void(int)>> all;
    {
      const std::lock_guard guard(lock_);
      completed_ = true;
      all.swap(held_);
    }
    for (const auto& each : all) each(7);
  }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  void begin_call(callback<void(int)> done) {
    {
      const std::lock_guard guard(lock_);
      if (!completed_) return held_.push_back(std::move(done));
    }
    done(7);
  }

  std::mutex lock_;
  std::vector<callback<void(int)>> held_;
  bool completed_ = false;
  std::atomic<bool> fails_{false};
};

/// A library that calls whoever listens when the case is completed, once for each.
class calling_library {
 public:
  using on_value = callback<void(int)>;

  void listen(on_value listener) {
    const std::lock_guard guard(lock_);
    listeners_.push_back(std::move(listener));
  }
  void ignore_all() {
    const std::lock_guard guard(lock_);
    listeners_.clear();
  }
  void call_all() {
    std::vector<on_value> all;
    {
      const std::lock_guard guard(lock_);
      all = listeners_;
    }
    for (const auto& each : all) each(7);
  }

 private:
  std::mutex lock_;
  std::vector<on_value> listeners_;
};

/// One stream, which is open as long as the case lives; each await takes a value.
class next_value_case : public case_base {
 public:
  struct convert {
    next_value_case* self;
    int operator()(int value) const {
      if (self->fails_) throw planned_failure();
      return value;
    }
  };
  using source = detail::callback_intake<void(int), convert>;

  static constexpr std::string_view name = "callback_values::next";
  using awaiters = covers<next_value_awaiter<int>>;
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool ready_at_once = true;

  next_value_case() : intake_(64, overflow_policy::drop_newest, convert{this}) {}

  task<void> begin() {
    library_.listen(intake_.open());
    co_return;
  }
  task<void> end() {
    library_.ignore_all();
    co_await intake_.closed();
  }
  auto make() { return intake_.next(); }
  void complete() { library_.call_all(); }
  void fail() { fails_ = true; }
  ended took(std::optional<int> value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  calling_library library_;
  source intake_;
  std::atomic<bool> fails_{false};
};

/// A use that waits at a gate; whatever has begun is unsubscribed.
class with_callbacks_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_callbacks";
  using awaiters = covers<task<int>::awaiter, detail::door_awaiter>;

  auto subscribing() {
    return [this](calling_library::on_value listener) {
      ++subscribed_;
      listener(7);
      return [this, held = std::move(listener), here = counted()]() -> task<void> {
        ++unsubscribed_;
        co_return;
      };
    };
  }

  task<void> end() {
    EXPECT_EQ(subscribed_, unsubscribed_);
    co_return;
  }
  task<int> make() {
    return with_callbacks(callback_stream<int>(1, overflow_policy::fail, subscribing()),
                          [this](auto& values) -> task<int> {
                            (void)co_await values.next();
                            co_return co_await child();
                          });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await with_callbacks(
        callback_stream<int>(
            1, overflow_policy::fail,
            [this, here = counted()](auto listener) { return subscribing()(std::move(listener)); }),
        [this, here = counted()](auto& values) -> task<int> {
          (void)co_await values.next();
          co_return co_await child();
        });
#else
    co_return co_await with_callbacks(
        callback_stream<int>(1, overflow_policy::fail,
                             [&](auto listener) { return subscribing()(std::move(listener)); }),
        [&](auto& values) -> task<int> {
          (void)co_await values.next();
          co_return co_await child();
        });
#endif
  }

 private:
  std::atomic<int> subscribed_{0};
  std::atomic<int> unsubscribed_{0};
};

using cases = ::testing::Types<from_callback_case, next_value_case, with_callbacks_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(callbacks, awaitable, cases, case_names);

}  // namespace callback_rows
}  // namespace tandem::registry
