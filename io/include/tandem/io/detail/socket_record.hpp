// socket_record.hpp: what the runtime notes of a socket, beside the socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tandem/io/detail/bound_place.hpp>
#include <tandem/io/detail/side_wait.hpp>

namespace tandem::inline v0::io::detail {

/// By which names people know what a socket does.
enum class socket_family : std::uint8_t { internet, local };

class socket_record {
 public:
  socket_record() noexcept = default;
  socket_record(completion_thread& thread, socket_family of) noexcept : family(of), place(thread) {}
  /// pre: the socket is idle
  socket_record(socket_record&& other) noexcept
      : family(other.family),
        known(other.known.exchange(nullptr, std::memory_order_relaxed)),
        place(std::move(other.place)),
        is_copied_anyway(other.is_copied_anyway) {}
  socket_record& operator=(socket_record&& other) noexcept {
    family = other.family;
    // Whoever uses it next is told by its owner.
    known.store(other.known.exchange(nullptr, std::memory_order_relaxed),
                std::memory_order_relaxed);
    place = std::move(other.place);
    is_copied_anyway = other.is_copied_anyway;
    return *this;
  }
  ~socket_record() = default;

  socket_family family = socket_family::internet;
  interest_slot known{nullptr};  ///< direct/watch
  bound_place place;             ///< spreading
  bool is_copied_anyway =
      false;  ///< lending: what was to be sent without a copy; by its giving side
};

}  // namespace tandem::inline v0::io::detail
