// datagram_room.cpp: what each thread keeps of them.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <new>
#include <tandem/config.hpp>
#include <tandem/io/detail/datagram_room.hpp>
#include <type_traits>

#include "operation/thread_shelf.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// Rooms that lie one after the other begin at different places of the caches' sets: with 64 KiB from
/// one to the next, the first lines of all would want the same ones.
constexpr std::size_t apart = 19 * 64;

/// What one receive may have, and some that its last ones have given back.
constexpr std::uint32_t kept_most = 64;

constinit thread_local thread_shelf<kept_most> shelf;

void close_shelf() noexcept { shelf.close(); }

// Not inline: a coroutine may go on on another thread, where the address of the thread before, kept
// by the compiler, would be wrong.
TANDEM_NOINLINE void* take_kept() noexcept { return shelf.take(); }
TANDEM_NOINLINE bool keep(void* memory) noexcept {
  return shelf.put(memory, tandem::detail::exit_step::datagram_rooms, &close_shelf);
}

}  // namespace

datagram_room& take_datagram_room() {
  void* memory = take_kept();
  if (memory == nullptr) {
    memory = ::operator new(sizeof(datagram_room) + datagram_room::capacity + apart);
  }
  return *::new (memory) datagram_room;
}

void give_back_datagram_room(datagram_room& room) noexcept {
  static_assert(std::is_trivially_destructible_v<datagram_room>);
  if (!keep(&room)) ::operator delete(&room);
}

}  // namespace tandem::inline v0::io::detail
