// side_wait.hpp: what waits for one side of a socket to be ready, where workers look.
// SPDX-License-Identifier: MIT
//
// Protocol direct: io/src/direct/README.md.
#pragma once

#include <atomic>
#include <tandem/executor.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::io::detail {

class interest;
/// Of a socket: what the port of the workers knows of it; null before it was waited for there.
/// Filled by whoever waits first, on either side.
using interest_slot = std::atomic<interest*>;

/// A job that is posted to `home` when the side is ready.
class side_wait : public job {
 public:
  side_wait() noexcept : job(nullptr, set_later{}) {}
  executor* home;  // set before it waits
};

}  // namespace tandem::inline v0::io::detail
