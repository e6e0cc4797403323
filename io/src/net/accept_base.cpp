// accept_base.cpp: connections that a select has got, and did not take.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <memory>
#include <tandem/detail/leaf.hpp>
#include <tandem/io/detail/accept_base.hpp>

#include "platform/attempt.hpp"

namespace tandem::inline v0::io::detail {

bool accept_base::take_kept() noexcept {
  const std::int32_t kept = socket_->take_kept();
  if (kept < 0) return false;
  operation_.complete(kept);
  return true;
}

bool accept_base::select_due() noexcept {
  if (!socket_->is_open()) return true;  // arming says so
  operation asked(operation_kind::wait_readable, nullptr, 0);
  asked.aim(socket_->thread(), socket_->descriptor());
  return platform::next_attempt(asked) != platform::would_block;
}

bool accept_base::select_arm(tandem::detail::select_place& as) noexcept {
  if (take_kept()) return true;
  TANDEM_ASSERT(socket_->source() == nullptr,
                "accept() after incoming(): the runtime accepts ahead on that listener, so what it "
                "has got can be had by incoming() only");
  if (!socket_->is_open()) {
    operation_.complete(-EBADF);
    return true;
  }
  operation_.know(socket_->record());
  operation_.aim(socket_->thread(), socket_->descriptor());
  if (side_->load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    operation_.join(as);
    operation_.complete(socket_->refuse_second(side_, operation_.name(), operation_.waiting()));
    return true;
  }
  side_->store(&operation_, std::memory_order_relaxed);
  operation_.arm(as);
  return false;
}

void accept_base::select_disarm() noexcept {
  end_operation();
  if (!operation_.failed()) socket_->keep(operation_.outcome());
}

void accept_base::select_reset() noexcept {
  end_operation();
  std::destroy_at(&operation_);
  std::construct_at(&operation_, operation_kind::accept, nullptr, std::size_t{0});
}

}  // namespace tandem::inline v0::io::detail
