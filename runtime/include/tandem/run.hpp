// run.hpp: runs one task from a plain thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <stop_token>
#include <utility>

#include <tandem/detail/token_callback.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// Forwards a std::stop_token to a handle for the life of this object.
template <class T>
class stop_bridge {
 public:
  stop_bridge(const std::stop_token& token, join_handle<T>& target)
      : callback_(token, forward{&target}) {}

 private:
  struct forward {
    join_handle<T>* target;
    void operator()() const noexcept { (void)target->cancel(stop_reason::user); }
  };
  token_callback<forward> callback_;
};

}  // namespace detail

/// Makes a runtime, runs `body` on its workers while the calling thread waits, ends the runtime.
///
///     int main() { return tandem::run(serve()); }
///
/// @param where    as what the task is named, in reports of stalls and failures
/// @returns        what the task returns
/// @throws         what the task throws; would_deadlock on a thread of a runtime
/// @cancellation   tasks that `body` spawned and left behind are stopped (reason shutdown) and
///                 awaited
template <class T>
T run(task<T> body, runtime_options options = {},
      std::source_location where = std::source_location::current()) {
  detail::refuse_blocking("tandem::run");
  runtime owner(std::move(options));
  return owner.spawn(std::move(body), where).wait();
}

/// As above; a stop of `token` stops the task.
template <class T>
T run(task<T> body, std::stop_token token, runtime_options options = {},  // NOLINT
      std::source_location where = std::source_location::current()) {
  detail::refuse_blocking("tandem::run");
  runtime owner(std::move(options));
  join_handle<T> handle = owner.spawn(std::move(body), where);
  const detail::stop_bridge<T> bridge(token, handle);
  return handle.wait();
}

}  // namespace tandem::inline v0
