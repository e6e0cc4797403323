// sharing_cases.cpp: the rows of work that several tasks await.
// SPDX-License-Identifier: MIT
#include <optional>
#include <tandem/shared_task.hpp>
#include <tandem/single_flight.hpp>

#include "case_of.hpp"

namespace tandem::registry {
namespace sharing_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// All tasks of a cell share it. The case has a copy, so it goes on when they have been stopped.
class shared_task_case : public gated_case {
 public:
  static constexpr std::string_view name = "shared_task";
  using awaiters = covers<shared_task_awaiter<int>, detail::shared_wait>;

  task<void> end() {
    shared_ = shared_task<int>();
    co_return;
  }
  shared_task_awaiter<int> make() { return shared_.operator co_await(); }

 protected:
  shared_task<int> shared_{child()};
};

class shared_task_copy_case : public shared_task_case {
 public:
  static constexpr std::string_view name = "shared_task, a temporary one";
  using awaiters = covers<shared_task_copy_awaiter<int>>;

  shared_task<int> make() { return shared_; }
};

/// When a cell's tasks have been stopped nobody is left, and the next one begins another call.
class single_flight_case : public gated_case {
 public:
  static constexpr std::string_view name = "single_flight::run";
  using awaiters = covers<>;

  task<int> make() {
    return flights_.run(1, [this] { return child(); });
  }

 private:
  single_flight<int, int> flights_;
};

using cases = ::testing::Types<shared_task_case, shared_task_copy_case, single_flight_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(sharing, awaitable, cases, case_names);

}  // namespace sharing_rows
}  // namespace tandem::registry
