// threads.cpp: threads and their end on Windows, where no signal arrives at a thread.
// SPDX-License-Identifier: MIT
#include "platform/threads.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <tandem/detail/thread_exit.hpp>

#include "platform/windows/system.hpp"
#include "platform/windows/thread_record.hpp"

namespace tandem::inline v0::platform {

struct blocked_signals::masks {};
blocked_signals::blocked_signals() = default;
blocked_signals::~blocked_signals() = default;

std::thread start_thread(const char* name, std::function<void()> body) {
  return std::thread([kept = std::string(name), run = std::move(body)] {
    name_this_thread(kept.c_str());
    run();
  });
}

std::uint64_t this_thread_id() noexcept { return ::GetCurrentThreadId(); }

void name_this_thread(const char* name) noexcept {
  std::array<wchar_t, 64> wide{};
  // One less than there is: the rest stays zero.
  if (::MultiByteToWideChar(CP_UTF8, 0, name, -1, wide.data(), static_cast<int>(wide.size() - 1)) ==
      0) {
    return;  // too long, or no text: a name is a help, nothing more
  }
  // Windows 10, 1607; not every tool chain declares it.
  using describe = HRESULT(WINAPI*)(HANDLE, PCWSTR);
  static const auto set = reinterpret_cast<describe>(reinterpret_cast<void*>(  // NOLINT
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription")));
  if (set != nullptr) (void)set(::GetCurrentThread(), wide.data());
}

}  // namespace tandem::inline v0::platform

namespace tandem::inline v0::detail {

bool at_thread_exit(exit_step step, thread_exit_function run) noexcept {
  platform::this_threads_record().at_exit[static_cast<std::size_t>(step)] = run;
  return true;
}

}  // namespace tandem::inline v0::detail
