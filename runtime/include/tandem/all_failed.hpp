// all_failed.hpp: the exception that carries the failures of everything that was tried.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// None of the children of a first_success() has succeeded.
///
///     catch (const tandem::all_failed& none) {
///       for (const std::exception_ptr& each : none.failures()) log(each);
///     }
///
/// @thread_safety  as a value; copies share the failures
class TANDEM_API all_failed : public std::runtime_error {
 public:
  /// @throws  std::bad_alloc
  explicit all_failed(std::vector<std::exception_ptr> failures);
  all_failed(const all_failed&) noexcept = default;
  all_failed& operator=(const all_failed&) noexcept = default;
  ~all_failed() override;

  /// One for each child, in the order of the children.
  std::span<const std::exception_ptr> failures() const noexcept { return *failures_; }

  // Implementation
 private:
  std::shared_ptr<const std::vector<std::exception_ptr>> failures_;
};

namespace detail {

/// What a group of children ends with of which none has succeeded: all that they failed with; or
/// that the caller was stopped, if that kept one of them from its end (the others are reported).
TANDEM_API std::exception_ptr failure_of_all(std::vector<std::exception_ptr>&& failures) noexcept;

/// @param room  of child i: an outcome, whose failure is taken
template <class Room>
std::exception_ptr failure_of_all(std::size_t count, Room room) noexcept {
  try {
    std::vector<std::exception_ptr> failures;
    failures.reserve(count);
    for (std::size_t i = 0; i < count; ++i) failures.push_back(room(i).take_failure());
    return failure_of_all(std::move(failures));
  } catch (...) {  // no memory for them
    return std::current_exception();
  }
}

}  // namespace detail
}  // namespace tandem::inline v0
