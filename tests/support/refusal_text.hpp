// refusal_text.hpp: what a refusal says.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <system_error>

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

/// @returns  the code of the std::system_error that `call` threw; none if it threw none
std::error_code refusal_code(const auto& call) {
  try {
    call();
  } catch (const std::system_error& refused) {
    return refused.code();
  }
  return {};
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tandem::test
