// unstarted_task.hpp: what worker_pool::shutdown_now() gives back.
// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// A submitted task that never started. Its handle has ended as cancelled; the coroutine itself is
/// whole, and can be run elsewhere.
///
///     for (auto& each : pool.shutdown_now()) {
///       if (each.holds<void>()) other.submit(each.take<void>()).detach();
///     }
class TANDEM_API unstarted_task {
 public:
  unstarted_task(unstarted_task&& other) noexcept
      : frame_(std::exchange(other.frame_, nullptr)),
        type_(other.type_),
        submitted_at_(other.submitted_at_) {}
  unstarted_task& operator=(unstarted_task&& other) noexcept {
    std::swap(frame_, other.frame_);
    std::swap(type_, other.type_);
    std::swap(submitted_at_, other.submitted_at_);
    return *this;
  }
  /// Destroys the coroutine if nobody has taken it.
  ~unstarted_task();

  const std::source_location& submitted_at() const noexcept { return submitted_at_; }
  /// Whether it is a task<T> that nobody has taken.
  template <class T>
  bool holds() const noexcept {
    return frame_ != nullptr && *type_ == typeid(task<T>);
  }
  /// @throws  std::logic_error unless holds<T>()
  template <class T>
  task<T> take() {
    if (!holds<T>()) throw_other_type();
    return static_cast<detail::task_promise<T>&>(*std::exchange(frame_, nullptr))
        .get_return_object();
  }

  // Implementation
  unstarted_task(detail::promise_base& frame, const std::type_info& type,
                 const std::source_location& submitted_at) noexcept
      : frame_(&frame), type_(&type), submitted_at_(submitted_at) {}

 private:
  [[noreturn]] static void throw_other_type();

  detail::promise_base* frame_;
  const std::type_info* type_;
  std::source_location submitted_at_;
};

}  // namespace tandem::inline v0
