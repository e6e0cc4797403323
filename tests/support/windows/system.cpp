// system.cpp: what tests ask of Windows.
// SPDX-License-Identifier: MIT
#include "system.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>
// These two need it.
#include <psapi.h>
#include <tlhelp32.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "own_handles.hpp"

namespace tandem::test {

// Both: what getenv() sees, and what children inherit.
void set_variable(const char* name, const char* value) {
  ::_putenv_s(name, value);
  ::SetEnvironmentVariableA(name, value);
}
void unset_variable(const char* name) {
  ::_putenv_s(name, "");
  ::SetEnvironmentVariableA(name, nullptr);
}

int process_id() { return static_cast<int>(::GetCurrentProcessId()); }

bool cheap_threads() { return false; }

std::string name_of_this_thread() {
  // Windows 10, 1607; not every tool chain declares it.
  using described = HRESULT(WINAPI*)(HANDLE, PWSTR*);
  static const auto get = reinterpret_cast<described>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "GetThreadDescription")));
  PWSTR wide = nullptr;
  if (get == nullptr || get(::GetCurrentThread(), &wide) < 0) return {};
  std::array<char, 256> name{};
  ::WideCharToMultiByte(CP_UTF8, 0, wide, -1, name.data(), static_cast<int>(name.size() - 1),
                        nullptr, nullptr);
  ::LocalFree(wide);
  return name.data();
}

bool has_signals() { return false; }
bool blocks_signals() { return true; }
void start_quiet_thread(void (*run)()) { std::thread(run).detach(); }

// As the system does it: for each event it begins a thread at kernel32's CtrlRoutine.
void interrupt_this_process() {
  const auto routine = reinterpret_cast<LPTHREAD_START_ROUTINE>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "CtrlRoutine")));
  static_assert(CTRL_C_EVENT == 0);
  const HANDLE thread = ::CreateThread(nullptr, 0, routine, nullptr, 0, nullptr);
  ::WaitForSingleObject(thread, INFINITE);
  ::CloseHandle(thread);
}

void wait_forever() {
  for (;;) ::Sleep(INFINITE);
}

void print_stacks() {
  std::fputs("watchdog: no stacks (there is no debugger to ask on Windows)\n", stderr);
}

std::vector<unsigned> cpus_of_this_thread() {
  GROUP_AFFINITY affinity{};
  std::vector<unsigned> cpus;
  if (::GetThreadGroupAffinity(::GetCurrentThread(), &affinity) == 0) return cpus;
  for (unsigned cpu = 0; cpu < 64; ++cpu) {
    if ((affinity.Mask >> cpu & 1U) != 0) cpus.push_back(affinity.Group * 64U + cpu);
  }
  return cpus;
}

bool run_on_cpus(const std::vector<unsigned>& cpus) {
  DWORD_PTR mask = 0;
  for (const unsigned cpu : cpus) mask |= DWORD_PTR{1} << cpu % 64;
  return ::SetProcessAffinityMask(::GetCurrentProcess(), mask) != 0;
}

// libstdc++ 12 takes no number of Windows, ERROR_OPERATION_ABORTED neither, for
// errc::operation_canceled: whoever calls the system translates it.
std::error_code cancelled_by_system() {
  return std::make_error_code(std::errc::operation_canceled);
}

std::size_t resident_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  counters.cb = sizeof counters;
  ::GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters);
  return counters.WorkingSetSize;
}

namespace {

std::size_t count_threads() {
  const HANDLE all = ::CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  std::size_t count = 0;
  for (BOOL found = ::Thread32First(all, &entry); found != 0; found = ::Thread32Next(all, &entry)) {
    if (entry.th32OwnerProcessID == ::GetCurrentProcessId()) ++count;
  }
  ::CloseHandle(all);
  return count;
}

/// Of all heaps: malloc's is one of them.
std::size_t busy_bytes() {
  std::array<HANDLE, 32> heaps{};
  const DWORD count = ::GetProcessHeaps(static_cast<DWORD>(heaps.size()), heaps.data());
  std::size_t bytes = 0;
  for (DWORD i = 0; i < count && i < heaps.size(); ++i) {
    PROCESS_HEAP_ENTRY entry{};
    ::HeapLock(heaps[i]);
    while (::HeapWalk(heaps[i], &entry) != 0) {
      if ((entry.wFlags & PROCESS_HEAP_ENTRY_BUSY) != 0) bytes += entry.cbData;
    }
    ::HeapUnlock(heaps[i]);
  }
  return bytes;
}

}  // namespace

std::size_t allocated_bytes() { return busy_bytes(); }

holdings holdings_of_process(std::size_t threads) {
  for (int i = 0; i < 1000 && count_threads() > threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::size_t handles = 0;
  for_each_own_handle([&handles](HANDLE /*each*/) { ++handles; });
  return {count_threads(), handles, busy_bytes()};
}

int run_with_exact_bytes(const std::string& /*filter*/) { return -1; }

small_stacks::small_stacks() = default;
small_stacks::~small_stacks() = default;

bool is_ready(pollable_handle watched, int limit_ms) {
  const DWORD limit = limit_ms < 0 ? INFINITE : static_cast<DWORD>(limit_ms);
  return ::WaitForSingleObject(watched, limit) == WAIT_OBJECT_0;
}

}  // namespace tandem::test
