// symbols.cpp: the module that an address lies in, and where; names are the debugger's business.
// SPDX-License-Identifier: MIT
#include "platform/symbols.hpp"

#include <array>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

struct symbols::session {};
symbols::symbols() = default;
symbols::~symbols() = default;

code_place symbols::find(const void* code) {
  code_place out;
  HMODULE module = nullptr;
  if (::GetModuleHandleExA(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          static_cast<const char*>(code), &module) == 0) {
    return out;
  }
  std::array<char, 512> path{};
  const DWORD length =
      ::GetModuleFileNameA(module, path.data(), static_cast<DWORD>(path.size() - 1));
  out.module.assign(path.data(), length);
  out.offset = reinterpret_cast<std::uintptr_t>(code) -   // NOLINT
               reinterpret_cast<std::uintptr_t>(module);  // NOLINT
  return out;
}

}  // namespace tandem::inline v0::platform
