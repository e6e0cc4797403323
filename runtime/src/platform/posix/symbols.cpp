// symbols.cpp: addresses stay numbers where the system says nothing of them.
// SPDX-License-Identifier: MIT
#include "platform/symbols.hpp"

namespace tandem::inline v0::platform {

struct symbols::session {};
symbols::symbols() = default;
symbols::~symbols() = default;

code_place symbols::find(const void* /*code*/) { return {}; }

}  // namespace tandem::inline v0::platform
