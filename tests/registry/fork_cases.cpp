// fork_cases.cpp: the rows of fork_join and fork_each.
// SPDX-License-Identifier: MIT
#include <array>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tuple>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace fork_rows {  // not an unnamed one: g++ warns of frames that hold such types

class fork_case : public gated_case {
 public:
  using gated_case::took;
  template <class Results>
  ended took_all(const Results& results) {
    int sum = 0;
    for (const int each : results) sum += each;
    EXPECT_EQ(sum, 14);
    return ended::returned;
  }
  ended took(const std::vector<int>& results) { return took_all(results); }
  ended took(const std::array<int, 2>& results) { return took_all(results); }
  ended took(const fork_results<int>& results) { return took_all(results); }
  ended took(const std::tuple<int, int>& results) {
    EXPECT_EQ(results, std::tuple(7, 7));
    return ended::returned;
  }

 protected:
  task<int> number(std::size_t i) { return i == 0 ? child() : other(); }
};

class fork_join_case : public fork_case {
 public:
  static constexpr std::string_view name = "fork_join";
  using awaiters = covers<fork_join_awaiter<int, int>>;
  auto make() { return fork_join(child(), other()); }
};

class fork_join_vector_case : public fork_case {
 public:
  static constexpr std::string_view name = "fork_join of a vector";
  using awaiters = covers<fork_join_vector_awaiter<int>>;
  auto make() {
    std::vector<task<int>> children;
    for (std::size_t i = 0; i < 2; ++i) children.push_back(number(i));
    return fork_join(std::move(children));
  }
};

class fork_join_array_case : public fork_case {
 public:
  static constexpr std::string_view name = "fork_join of an array";
  using awaiters = covers<fork_join_array_awaiter<int, 2>>;
  auto make() { return fork_join(std::array<task<int>, 2>{child(), other()}); }
};

class fork_each_case : public fork_case {
 public:
  static constexpr std::string_view name = "fork_each";
  using awaiters = covers<fork_each_awaiter<task<int> (*)(std::size_t)>>;
  auto make() {
    return fork_each(2, [this](std::size_t i) { return number(i); });
  }
  task<int> in_place() {
    int sum = 0;
#if defined(__clang__)
    for (const int each :
         co_await fork_each(2, [&, here = counted()](std::size_t i) { return number(i); })) {
#else
    const auto body = [&, here = counted()](std::size_t i) { return number(i); };
    for (const int each : co_await fork_each(2, body)) {
#endif
      sum += each;
    }
    co_return sum / 2;
  }
};

class fork_each_n_case : public fork_case {
 public:
  static constexpr std::string_view name = "fork_each of a fixed number";
  using awaiters = covers<fork_each_n_awaiter<2, task<int> (*)(std::size_t)>>;
  auto make() {
    return fork_each<2>([this](std::size_t i) { return number(i); });
  }
  task<int> in_place() {
    const auto got = co_await fork_each<2>([&](std::size_t i) { return number(i); });
    co_return (got[0] + got[1]) / 2;
  }
};

using cases = ::testing::Types<fork_join_case, fork_join_vector_case, fork_join_array_case,
                               fork_each_case, fork_each_n_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(forks, awaitable, cases, case_names);

}  // namespace fork_rows
}  // namespace tandem::registry
