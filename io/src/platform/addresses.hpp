// addresses.hpp: addresses as text.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. What is no address is an answer and no failure; only memory may be
// refused (std::bad_alloc).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tandem/io/endpoint.hpp>

namespace tandem::inline v0::io::platform {

/// pre: `text` has no zero in it
///
/// @param out  its bytes, in network order, the first 4 or all 16
/// @returns    whether `text` is an address of that family; if not, `out` means nothing
bool parse_address(address_family family, const std::string& text,
                   std::array<std::uint8_t, 16>& out) noexcept;

/// Without brackets, scope or port. post: parse_address() makes the same bytes of it
/// @throws  std::bad_alloc
std::string text_of(address_family family, const std::array<std::uint8_t, 16>& bytes);

}  // namespace tandem::inline v0::io::platform
