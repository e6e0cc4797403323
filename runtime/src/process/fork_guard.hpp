// fork_guard.hpp: which runtimes exist, and which of them are a parent's, copied by fork().
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include <tandem/detail/forked.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0::detail {

/// Enters a runtime; the first one has the process tell us of every fork.
///
/// @returns  its name; if a living runtime of this process is called that, with a number behind it
/// @throws   std::system_error, std::bad_alloc
std::string runtime_begins(const tandem::runtime& fresh);
void runtime_ends(const tandem::runtime& ended) noexcept;

/// Something that a child of fork() leaves as it is, for ever.
class left_to_parent {
 protected:
  left_to_parent() noexcept = default;
  ~left_to_parent() = default;

 private:
  friend void keep_forked(left_to_parent& left) noexcept;
  left_to_parent* next_kept_ = nullptr;
};
/// Keeps it where leak checkers see it. Without the heap, which a child cannot rely on under every
/// sanitizer.
void keep_forked(left_to_parent& left) noexcept;
/// If this thread has forked inside a task. @throws forked_runtime
void refuse_in_forked_task(const char* what);

/// The handler of a runtime that may have ended; then null.
std::shared_ptr<const runtime_options::exception_handler> unhandled_handler_of(
    const tandem::runtime& owner) noexcept;

}  // namespace tandem::inline v0::detail
