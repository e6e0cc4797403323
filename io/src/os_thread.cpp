// os_thread.cpp: the thread-local of the completion pool; threads come from the runtime's own maker.
// SPDX-License-Identifier: MIT
#include "os_thread.hpp"

#include <tandem/detail/pool_thread.hpp>
#include <utility>

namespace tandem::inline v0::io {

namespace {
constinit thread_local void* slot = nullptr;
}

std::thread start_os_thread(const char* name, std::function<void()> body) {
  return tandem::detail::start_pool_thread(name, std::move(body));
}

[[gnu::noinline]] void* current_thread_slot() noexcept { return slot; }
[[gnu::noinline]] void set_current_thread_slot(void* self) noexcept { slot = self; }

}  // namespace tandem::inline v0::io
