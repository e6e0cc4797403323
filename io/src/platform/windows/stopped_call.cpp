// stopped_call.cpp: how a stop reaches a thread that waits in a call of the system.
// SPDX-License-Identifier: MIT
#include "platform/windows/stopped_call.hpp"

#include <array>
#include <tandem/detail/thread_context.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::io::platform {

namespace {

tandem::stop_state* current_state() noexcept {
  tandem::environment* const env = tandem::detail::this_thread().env;
  return env != nullptr ? &env->stop() : nullptr;
}

HANDLE own_thread() noexcept {
  HANDLE made = nullptr;
  (void)::DuplicateHandle(::GetCurrentProcess(), ::GetCurrentThread(), ::GetCurrentProcess(), &made,
                          0, FALSE, DUPLICATE_SAME_ACCESS);
  return made;
}

owned_handle make_event() noexcept {
  return owned_handle(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
}

}  // namespace

constinit const tandem::detail::wait_kind stopped_call::listens_for_call(&stopped_call::on_stop,
                                                                         "a call of Windows");

stopped_call::stopped_call() noexcept
    : stop_listener(listens_for_call, &stopped_call::stopper_left),
      state_(current_state()),
      told_(make_event()),
      left_(make_event()),
      thread_(own_thread()) {
  if (state_ == nullptr || !is_set_up() || !left_.is_open()) {
    (void)told_.close();
    return;
  }
  is_listening_ = state_->listen(*this);
  if (!is_listening_) is_stopped_.store(true, std::memory_order_seq_cst);
}

stopped_call::~stopped_call() {
  if (!is_listening_ || state_->take_back(*this)) return;
  (void)::WaitForSingleObject(left_.get(), INFINITE);
}

void stopped_call::wait_for(HANDLE handle) const noexcept {
  const std::array<HANDLE, 2> both{told_.get(), handle};
  if (!is_stopped()) (void)::WaitForMultipleObjects(2, both.data(), FALSE, INFINITE);
}

bool stopped_call::on_stop(tandem::stop_waiter& waiter) noexcept {
  auto& self = static_cast<stopped_call&>(waiter);
  self.is_stopped_.store(true, std::memory_order_seq_cst);
  (void)::SetEvent(self.told_.get());
  // "Not found": it is just about to enter the kernel, or has just left it.
  while (self.is_inside_.load(std::memory_order_seq_cst) &&
         ::CancelSynchronousIo(self.thread_.get()) == 0) {
    (void)::SwitchToThread();
  }
  return true;
}

void stopped_call::stopper_left(tandem::stop_listener& waiter) noexcept {
  (void)::SetEvent(static_cast<stopped_call&>(waiter).left_.get());
}

}  // namespace tandem::inline v0::io::platform
