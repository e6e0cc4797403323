// enumerators.hpp: what to say of an option that holds none of its type's values.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <type_traits>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

template <class Enum>
std::string no_enumerator(Enum value, const char* type) {
  return "it is " + std::to_string(static_cast<std::underlying_type_t<Enum>>(value)) +
         ", which is no " + type;
}

}  // namespace tandem::inline v0::detail
