// native_calls.hpp: calls of ntdll that its own headers leave out, or not every tool chain's library has.
// SPDX-License-Identifier: MIT
#pragma once

#include "platform/windows/system.hpp"

#include <winternl.h>

namespace tandem::inline v0::io::platform {

/// Null where the system has none of that name.
template <class Function>
Function native_call(const char* name) noexcept {
  return reinterpret_cast<Function>(reinterpret_cast<void*>(  // NOLINT: this is how they are found
      ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), name)));
}

}  // namespace tandem::inline v0::io::platform
