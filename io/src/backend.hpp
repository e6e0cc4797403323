// backend.hpp: THE contract between a completion thread and the operating system.
// SPDX-License-Identifier: MIT
//
// One backend belongs to one completion thread. Unless said otherwise its members are called by that
// thread alone; it is made there, too (a ring may be bound to the thread that sets it up).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/operation.hpp>

namespace tandem::inline v0::io {

enum class submit_answer : std::uint8_t {
  pending,           ///< a completion will come, exactly one
  completed_inline,  ///< operation::complete was called; no completion will come
};

class backend {
 public:
  /// Called for each completed operation, after operation::complete; may submit further ones.
  using completion_function = void (*)(void* context, detail::operation& ended) noexcept;

  backend() noexcept = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend();

  /// pre: operation.state is idle. post: submitted, or completed if the answer says so. Buffer,
  /// descriptor and the operation itself stay alive until the completion.
  virtual submit_answer submit(detail::operation& operation) noexcept = 0;

  /// pre: submitted and not completed. Asks the kernel to end it early; its completion still comes.
  virtual void cancel(detail::operation& operation) noexcept = 0;

  /// Hands over what was submitted, then waits for a completion, a wake() or the deadline.
  /// time_point::min(): does not wait.
  virtual void wait(std::chrono::steady_clock::time_point deadline) noexcept = 0;

  /// Takes the completions that are there. @returns how many operations have ended
  virtual unsigned reap(completion_function ended, void* context) noexcept = 0;

  /// Any thread. Ends a wait() that has begun or the next one.
  virtual void wake() noexcept = 0;
};

/// pre: on the thread that will use it. @throws std::system_error with cause and cure
std::unique_ptr<backend> make_backend(const completion_options& options);

}  // namespace tandem::inline v0::io
