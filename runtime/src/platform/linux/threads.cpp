// threads.cpp: how threads start and what they are called on Linux.
// SPDX-License-Identifier: MIT
#include "platform/threads.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace tandem::inline v0::platform {

namespace {

/// The kernel keeps 15 characters.
void set_name(pthread_t thread, const char* name) noexcept {
  char kept[16] = {};
  std::strncpy(kept, name, sizeof kept - 1);
  pthread_setname_np(thread, kept);
}

}  // namespace

std::thread start_thread(const char* name, std::function<void()> body) {
  const blocked_signals until_it_runs;
  std::thread thread(std::move(body));
  set_name(thread.native_handle(), name);  // nothing may fail any more: it runs
  return thread;
}

std::uint64_t this_thread_id() noexcept { return static_cast<std::uint64_t>(::gettid()); }

void name_this_thread(const char* name) noexcept { set_name(pthread_self(), name); }

}  // namespace tandem::inline v0::platform
