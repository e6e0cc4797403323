// border.hpp: an environment between a task and one that it awaits.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

/// Whether a stop of the caller comes through to the child.
enum class border_kind : std::uint8_t { open, closed };

/// Base of awaiters.
class TANDEM_API border {
 protected:
  explicit border(border_kind kind) noexcept : kind_(kind) {}
  /// For awaiters that have not started.
  border(border&& other) noexcept : kind_(other.kind_) {}
  ~border() {}  // NOLINT: the environment has ended in close()

  bool is_closed() const noexcept { return kind_ == border_kind::closed; }
  /// The environment begins; the child is still to be prepared.
  ///
  /// @param part  what the kind describes
  void open(promise_base& parent, const environment_kind& kind, const void* part) noexcept;
  /// Between open() and the child's start.
  void prepare(promise_base& child, promise_base& parent, outcome_base& result,
               promise_base::final_function ended, void* of_ended) noexcept;
  /// After the child's end: the environment ends.
  void close() noexcept {
    env_.end();
    std::destroy_at(&env_);
  }
  /// As above, at `home`. @returns what to go on with
  std::coroutine_handle<> leave(promise_base& parent, const executor* home) noexcept;

  union {
    environment env_;  // from open() to close()
  };

 private:
  const border_kind kind_;
};

}  // namespace tandem::inline v0::detail
