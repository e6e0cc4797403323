// addresses.hpp: addresses as text.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tandem/io/endpoint.hpp>

namespace tandem::inline v0::io::platform {

/// @param out  its bytes, in network order, the first 4 or all 16
/// @returns    whether `text`, which has no zero in it, is an address of that family
bool parse_address(address_family family, const std::string& text,
                   std::array<std::uint8_t, 16>& out) noexcept;

/// Without brackets.
std::string text_of(address_family family, const std::array<std::uint8_t, 16>& bytes);

}  // namespace tandem::inline v0::io::platform
