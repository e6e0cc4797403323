// combinator_cases.cpp: the rows of what runs children below an environment of its own.
// SPDX-License-Identifier: MIT
#include <optional>
#include <stop_token>
#include <tandem/context.hpp>
#include <tandem/first_success.hpp>
#include <tandem/invoke.hpp>
#include <tandem/race.hpp>
#include <tandem/shielded.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <tandem/when_each.hpp>
#include <tandem/with_stop.hpp>
#include <tuple>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace combinator_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// Two children in a vector, the first of which may fail.
class pair_case : public gated_case {
 protected:
  std::vector<task<int>> both() {
    std::vector<task<int>> made;
    made.push_back(child());
    made.push_back(other());
    return made;
  }
};

class when_all_case : public gated_case {
 public:
  static constexpr std::string_view name = "when_all";
  using awaiters = covers<when_all_awaiter<int, int>>;
  auto make() { return when_all(child(), other()); }
  ended took(const std::tuple<int, int>& got) {
    EXPECT_EQ(got, std::tuple(7, 7));
    return ended::returned;
  }
};

class when_all_range_case : public pair_case {
 public:
  static constexpr std::string_view name = "when_all of a range";
  using awaiters = covers<when_all_range_awaiter<int>>;
  auto make() { return when_all(both()); }
  ended took(const std::vector<int>& got) {
    EXPECT_EQ(got, std::vector(2, 7));
    return ended::returned;
  }
};

/// Nothing is dropped: each child's end is in its result. The first child waits for the gate, the
/// second for ever, so the first decides.
ended end_of(result<int>& got) {
  if (got.has_value()) {
    EXPECT_EQ(got.value(), 7);
    return ended::returned;
  }
  (void)(got.is_cancelled() ? got.value() : 0);  // as a plain await would have thrown it
  EXPECT_THROW((void)got.value(), planned_failure);
  return ended::failed;
}

class first_case : public pair_case {
 protected:
  task<int> for_ever(counted /*here*/ = {}) {
    co_await never_.wait();
    co_return 8;
  }
  std::vector<task<int>> first_and_never() {
    std::vector<task<int>> made;
    made.push_back(child());
    made.push_back(for_ever());
    return made;
  }

 private:
  event never_;
};

class when_any_case : public first_case {
 public:
  static constexpr std::string_view name = "when_any";
  using awaiters = covers<when_any_awaiter<int, int>>;
  auto make() { return when_any(child(), for_ever()); }
  template <class Results>
  ended took(when_any_result<Results> got) {
    const ended how = end_of(std::get<0>(got.results));
    // In a stopped task the other may have noticed the stop before the first had its value.
    EXPECT_TRUE(got.index == 0 || stop_requested());
    EXPECT_TRUE(std::get<1>(got.results).is_cancelled());
    return how;
  }
};

class when_any_range_case : public first_case {
 public:
  static constexpr std::string_view name = "when_any of a range";
  using awaiters = covers<when_any_range_awaiter<int>>;
  auto make() { return when_any(first_and_never()); }
  ended took(when_any_result<std::vector<result<int>>> got) {
    const ended how = end_of(got.results[0]);
    // In a stopped task the other may have noticed the stop before the first had its value.
    EXPECT_TRUE(got.index == 0 || stop_requested());
    EXPECT_TRUE(got.results[1].is_cancelled());
    return how;
  }
};

class race_case : public first_case {
 public:
  static constexpr std::string_view name = "race";
  using awaiters = covers<race_awaiter<int, int>>;
  auto make() { return race(child(), for_ever()); }
};

class race_range_case : public first_case {
 public:
  static constexpr std::string_view name = "race of a range";
  using awaiters = covers<race_range_awaiter<int>>;
  auto make() { return race(first_and_never()); }
};

/// A success ends the other child; for the case to fail both have to.
class success_case : public first_case {
 protected:
  task<int> fails_or_waits(counted /*here*/ = {}) {
    (void)co_await child();
    co_return co_await for_ever();
  }
  std::vector<task<int>> both_may_fail() {
    std::vector<task<int>> made;
    made.push_back(fails_or_waits());
    made.push_back(child());
    return made;
  }
};

class first_success_case : public success_case {
 public:
  static constexpr std::string_view name = "first_success";
  using awaiters = covers<first_success_awaiter<int, int>>;
  auto make() { return first_success(child(), fails_or_waits()); }
};

class first_success_range_case : public success_case {
 public:
  static constexpr std::string_view name = "first_success of a range";
  using awaiters = covers<first_success_range_awaiter<int>>;
  auto make() { return first_success(both_may_fail()); }
};

class when_each_case : public first_case {
 public:
  static constexpr std::string_view name = "when_each";
  using awaiters = covers<>;
  task<int> make() {
    int got = 0;
    co_await for_each(when_each(first_and_never()), [&got](when_each_item<int>& ended) {
      EXPECT_EQ(ended.index, 0U);
      got = ended.outcome.value();
      return flow::leave;
    });
    co_return got;
  }
};

class with_stop_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_stop";
  using awaiters = covers<with_stop_awaiter<int>>;
  auto make() { return with_stop(source_.get_token(), child()); }

 private:
  std::stop_source source_;
};

class with_stop_token_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_stop_token";
  using awaiters = covers<with_stop_token_awaiter<task<int> (*)(std::stop_token)>>;
  auto make() {
    return with_stop_token([this](std::stop_token token) -> task<int> {
      EXPECT_TRUE(token.stop_possible());
      return child();
    });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await with_stop_token(
        [this, here = counted()](const std::stop_token&) -> task<int> { return child(here); });
#else
    const auto body = [this, here = counted()](const std::stop_token&) { return child(here); };
    (void)co_await with_stop_token(body);
    co_return co_await with_stop_token([&](const std::stop_token&) { return child(); });
#endif
  }
};

class shielded_case : public gated_case {
 public:
  static constexpr std::string_view name = "shielded";
  using awaiters = covers<shielded_awaiter<int>>;
  static constexpr on_stop before = on_stop::goes_on;
  static constexpr on_stop during = on_stop::goes_on;
  auto make() { return shielded(child()); }
};

class invoke_case : public gated_case {
 public:
  static constexpr std::string_view name = "invoke";
  using awaiters = covers<task<int>::awaiter>;
  task<int> make() {
    return tandem::invoke([this](int more) -> task<int> { co_return more + co_await child(); }, 0);
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await tandem::invoke([this, here = counted()]() { return child(here); });
#else
    const auto body = [this, here = counted()]() { return child(here); };
    (void)co_await tandem::invoke(body);
    co_return co_await tandem::invoke([&]() { return child(); });
#endif
  }
};

class with_context_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_context";
  using awaiters = covers<context_awaiter<int>>;
  auto make() { return with_context(local_, counted(), child()); }

 private:
  context_local<std::optional<counted>> local_{std::nullopt};
};

class suppress_flow_case : public gated_case {
 public:
  static constexpr std::string_view name = "suppress_flow";
  using awaiters = covers<context_awaiter<int>>;
  auto make() { return suppress_flow(child()); }
};

using cases =
    ::testing::Types<when_all_case, when_all_range_case, when_any_case, when_any_range_case,
                     race_case, race_range_case, first_success_case, first_success_range_case,
                     when_each_case, with_stop_case, with_stop_token_case, shielded_case,
                     invoke_case, with_context_case, suppress_flow_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(combinators, awaitable, cases, case_names);

}  // namespace combinator_rows
}  // namespace tandem::registry
