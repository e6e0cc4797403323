// refusal_text.hpp: what a refusal says.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace tandem::test {

/// @returns  what the exception of that type said that `call` threw
template <class Error, class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const Error& refused) {
    return refused.what();
  }
  return "not refused";
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tandem::test
