// pool_thread.hpp: how every thread of a runtime is started, for services that have threads too.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <tandem/config.hpp>
#include <thread>

namespace tandem::inline v0::detail {

/// Starts a thread in which asynchronous signals and SIGPIPE are blocked from birth.
///
/// @param name  the kernel keeps 15 characters
/// @throws      std::system_error
TANDEM_API std::thread start_pool_thread(const char* name, std::function<void()> body);

}  // namespace tandem::inline v0::detail
