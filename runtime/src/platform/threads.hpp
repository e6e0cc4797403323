// threads.hpp: begin and end of threads, their names and their signals.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace tandem::inline v0::platform {

/// Starts a thread in which asynchronous signals and SIGPIPE are blocked from birth.
///
/// @param name  as in name_this_thread()
/// @throws      std::system_error, std::bad_alloc: then no thread was started
std::thread start_thread(const char* name, std::function<void()> body);
/// What debuggers and `top` show; the system may keep the first 15 characters only.
void name_this_thread(const char* name) noexcept;
/// The number that the system's tools show; where it has none, any that no other living thread has.
std::uint64_t this_thread_id() noexcept;

/// While it lives asynchronous signals and SIGPIPE are blocked in its thread, and in those that it
/// starts. post of its end: blocked is what was blocked before
class blocked_signals {
 public:
  /// @throws  std::bad_alloc
  blocked_signals();
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;
  ~blocked_signals();

 private:
  struct masks;
  std::unique_ptr<masks> masks_;
};

}  // namespace tandem::inline v0::platform
