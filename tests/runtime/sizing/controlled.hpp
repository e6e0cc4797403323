// controlled.hpp: the control of a pool that is none, for tests of what it tells.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "runtime/sizing/fake_pool.hpp"
#include "runtime/support/crew_parts.hpp"
#include "sizing/pool_control.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

inline std::shared_ptr<const pool_options> shared(const pool_options& options) {
  return std::make_shared<const tandem::pool_options>(options);
}

/// No thread is ever started: who is busy, and what waits, is what the test says.
class controlled {
 public:
  explicit controlled(const pool_options& options, bool decides = true)
      : crew(options),
        control(pool, {{**rt, crew.name, crew.workers, crew.threads}, crew.word, crew.limits},
                shared(options), decides) {}
  ~controlled() {
    control.stop();
    rt.reset();  // the timers' thread is not inside the control afterwards
  }

  int reconfigure(const pool_options& options) {
    auto wanted = shared(options);
    return control.reconfigure(wanted, std::nullopt);
  }
  void wake_workers(unsigned count) {
    for (unsigned i = 0; i < count; ++i) crew.word.wake_with_item();
    control.somebody_is_awake();
  }

  std::optional<test_runtime> rt{std::in_place, 1};
  crew_parts::crew_of_one_test crew;
  fake_pool pool;
  detail::pool_control control;
};

}  // namespace tandem::test
