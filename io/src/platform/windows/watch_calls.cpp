// watch_calls.cpp: from the beginning of a watch's call to its last packet.
// SPDX-License-Identifier: MIT
#include "platform/windows/watch_calls.hpp"

#include <utility>

namespace tandem::inline v0::io::platform {

DWORD watch_calls::begin(std::unique_ptr<watch_call> call) {
  watch_call& begun = *call;
  if (::CreateIoCompletionPort(begun.directory.get(), port_, key_, 0) == nullptr) {
    return ::GetLastError();
  }
  {
    const std::lock_guard guard(lock_);
    under_way_.emplace(&begun, std::move(call));
  }
  const DWORD code = begun.begin();
  if (code == 0) {
    begun.of->begun(begun);
  } else {
    const std::lock_guard guard(lock_);
    under_way_.erase(&begun);
  }
  return code;
}

void watch_calls::told(const OVERLAPPED_ENTRY& packet) noexcept {
  auto* const call = static_cast<watch_call*>(packet.lpOverlapped);
  // It keeps what it is of, whose lock is held there.
  if (call->of->told(*call)) return;
  std::unique_ptr<watch_call> ended;  // closes its handle after the lock
  const std::lock_guard guard(lock_);
  const auto place = under_way_.find(call);
  ended = std::move(place->second);
  under_way_.erase(place);
}

void watch_calls::cancel_all() noexcept {
  for (const auto& [call, owner] : under_way_) {
    const std::lock_guard guard(call->of->queue()->lock);
    call->of->stop();
  }
}

bool watch_calls::is_idle() noexcept {
  const std::lock_guard guard(lock_);
  return under_way_.empty();
}

}  // namespace tandem::inline v0::io::platform
