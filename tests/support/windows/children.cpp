// children.cpp: children on Windows.
// SPDX-License-Identifier: MIT
#include "children.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>
// It needs that.
#include <tlhelp32.h>

#include <array>
#include <utility>

namespace tandem::test {

std::vector<std::string> shell(std::string script) {
  std::array<char, 1024> own{};
  const DWORD size = ::GetModuleFileNameA(nullptr, own.data(), static_cast<DWORD>(own.size()));
  std::string path(own.data(), size);
  path.resize(path.find_last_of('\\') + 1);  // its folder is beside that of io's tests, or is that
  return {path + "..\\io\\small_shell.exe", std::move(script)};
}

bool has_children() {
  const HANDLE all = ::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  PROCESSENTRY32W each{};
  each.dwSize = sizeof each;
  bool found = false;
  for (BOOL more = ::Process32FirstW(all, &each); more != 0 && !found;
       more = ::Process32NextW(all, &each)) {
    found = each.th32ParentProcessID == ::GetCurrentProcessId();
  }
  ::CloseHandle(all);
  return found;
}

}  // namespace tandem::test
