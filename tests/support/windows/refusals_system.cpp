// refusals_system.cpp: what refusals.cpp asks of Windows.
// SPDX-License-Identifier: MIT
#include "refusals_system.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

#include <cstdio>

namespace tandem::test {

namespace {

// A thread_local of this tool chain allocates when a thread first asks for it.
const DWORD slot = ::TlsAlloc();

}  // namespace

std::uintptr_t own_word() noexcept {
  return reinterpret_cast<std::uintptr_t>(::TlsGetValue(slot));  // NOLINT
}
void set_own_word(std::uintptr_t word) noexcept {
  ::TlsSetValue(slot, reinterpret_cast<void*>(word));  // NOLINT
}

bool is_this_thread_called(std::string_view prefix) noexcept {
  // Windows 10, 1607; not every tool chain declares it.
  using described = HRESULT(WINAPI*)(HANDLE, PWSTR*);
  static const auto get = reinterpret_cast<described>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "GetThreadDescription")));
  PWSTR wide = nullptr;
  if (get == nullptr || get(::GetCurrentThread(), &wide) < 0) return false;
  std::size_t same = 0;
  while (same < prefix.size() && wide[same] == static_cast<wchar_t>(prefix[same])) ++same;
  ::LocalFree(wide);
  return same == prefix.size();
}

int take_stack(void** into, int most) noexcept {
  return ::CaptureStackBackTrace(0, static_cast<DWORD>(most), into, nullptr);
}
// As offsets from the image: addr2line with the image's own base knows the lines.
void print_stack(void* const* frames, int count) noexcept {
  const auto image = reinterpret_cast<std::uintptr_t>(::GetModuleHandleW(nullptr));  // NOLINT
  for (int i = 0; i < count; ++i) {
    const auto at = reinterpret_cast<std::uintptr_t>(frames[i]);  // NOLINT
    (void)std::fprintf(stderr, "  image + 0x%llx\n", static_cast<unsigned long long>(at - image));
  }
}

}  // namespace tandem::test
