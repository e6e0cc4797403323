// threads.cpp: how threads start, and what they are called where the system has names for them.
// SPDX-License-Identifier: MIT
#include "platform/threads.hpp"

#include <pthread.h>
#if defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
#include <pthread_np.h>
#endif

#include <cstring>
#include <string>
#include <utility>

namespace tandem::inline v0::platform {

std::thread start_thread(const char* name, std::function<void()> body) {
  const blocked_signals until_it_runs;
  return std::thread([kept = std::string(name), run = std::move(body)] {
    name_this_thread(kept.c_str());  // some systems let nobody else do it
    run();
  });
}

std::uint64_t this_thread_id() noexcept {
  // Some systems have a number here, some a pointer.
  const pthread_t self = ::pthread_self();
  std::uint64_t out = 0;
  static_assert(sizeof self <= sizeof out);
  std::memcpy(&out, &self, sizeof self);
  return out;
}

void name_this_thread([[maybe_unused]] const char* name) noexcept {
#if defined(__APPLE__)
  (void)::pthread_setname_np(name);
#elif defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
  ::pthread_set_name_np(::pthread_self(), name);
#elif defined(__NetBSD__)
  (void)::pthread_setname_np(::pthread_self(), "%s", const_cast<char*>(name));  // NOLINT
#elif defined(__linux__)
  char kept[16] = {};  // a longer one is refused
  for (unsigned i = 0; i + 1 < sizeof kept && name[i] != '\0'; ++i) kept[i] = name[i];
  (void)::pthread_setname_np(::pthread_self(), kept);
#endif
}

}  // namespace tandem::inline v0::platform
