// pool_thread.cpp: threads for services.
// SPDX-License-Identifier: MIT
#include <utility>

#include <tandem/detail/pool_thread.hpp>

#include "platform/threads.hpp"

namespace tandem::inline v0 {

std::thread detail::start_pool_thread(const char* name, std::function<void()> body) {
  return platform::start_thread(name, std::move(body));
}

}  // namespace tandem::inline v0
