// pool_state.hpp: the life of a worker pool.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// How far a worker pool is. It only goes on, never back; a step may be left out.
enum class pool_state : std::uint8_t {
  running,     ///< takes submissions
  shutdown,    ///< refuses them, and runs what it has
  stop,        ///< refuses them, has dropped what had not started, and asks the rest to stop
  tidying,     ///< no task lives and no worker is left; pool_options::on_terminated runs
  terminated,  ///< that has returned
};

/// "running", "shutting down", "stopping", "tidying", "terminated".
TANDEM_API const char* to_string(pool_state state) noexcept;

}  // namespace tandem::inline v0
