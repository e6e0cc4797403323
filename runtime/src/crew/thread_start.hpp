// thread_start.hpp: how a worker gets a thread, and how that thread gets its place. changes/make_thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <thread>

#include <tandem/thread_options.hpp>

namespace tandem::inline v0::detail {

/// A thread of the user's making, which runs `body` once the pool has it, else never.
///
/// @throws  what the factory throws; std::runtime_error if no thread came back
std::thread start_by_factory(const thread_options::factory_function& factory,
                             const std::string& name, std::function<void()> body);

/// Binds the calling thread to the processors that the options choose for worker `number`.
/// @throws std::system_error
void place_worker_thread(const thread_options& options, unsigned number);

}  // namespace tandem::inline v0::detail
