// file_call.hpp: a request that is carried out on a thread of blocking().
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/detail/blocking_request.hpp>
#include <tandem/detail/outcome.hpp>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/export.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

class TANDEM_IO_API file_call : private tandem::detail::blocking_request {
 public:
  explicit file_call(file_request& request) noexcept
      : blocking_request(&file_call::perform), request_(&request) {}
  /// For one that has not started.
  file_call(file_call&& other) noexcept
      : blocking_request(std::move(other)), request_(other.request_) {}

  /// @returns  whether the task suspends
  bool begin(tandem::detail::promise_base& waiting) noexcept { return start(waiting, queued_); }
  /// @throws  what kept it from being queued
  void end();

 private:
  static void perform(blocking_request& self) noexcept;

  file_request* request_;
  tandem::detail::outcome<void> queued_;
};

}  // namespace tandem::inline v0::io::detail
