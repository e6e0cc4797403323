// given_references.hpp: builds with assertions: what a coroutine was given by reference.
// SPDX-License-Identifier: MIT
//
// A promise is constructed from its coroutine's parameters, so it can tell the address of each: one
// by value lies in the frame, one by reference elsewhere. The last few frames that a thread has made
// are remembered: a child is spawned right after it was made. Whoever compiles with NDEBUG notes
// nothing, and pays nothing.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// A frame, and where its coroutine's parameters are.
class noted_frame {
 public:
  static constexpr std::size_t most_references = 8;

  const void* frame = nullptr;
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::array<const void*, most_references> references{};
};

/// The calling thread has allocated a frame.
TANDEM_API void note_frame(const void* frame, std::size_t bytes) noexcept;
/// Its parameters; those beyond most_references are left out.
TANDEM_API void note_references(const void* frame, const void* const* references,
                                std::size_t count) noexcept;
/// @returns  null if it was made elsewhere, too long ago, or by code without assertions
const noted_frame* find_noted(const void* frame) noexcept;

/// Null for what nobody has to keep alive: functions, and objects without members, such as a lambda
/// without captures.
template <class Given>
const void* address_of_given(Given& given) noexcept {
  if constexpr (!std::is_object_v<Given>) {
    return nullptr;
  } else if constexpr (requires { sizeof(Given); }) {
    if constexpr (std::is_empty_v<Given>) return nullptr;
  }
  if constexpr (std::is_object_v<Given>) {
    return const_cast<const void*>(static_cast<const volatile void*>(std::addressof(given)));
  }
}

template <class... Given>
void note_given(const void* frame, Given&... given) noexcept {
  const std::array<const void*, sizeof...(Given)> references{address_of_given(given)...};
  note_references(frame, references.data(), references.size());
}

}  // namespace tandem::inline v0::detail
