// datagram_room.cpp: what each thread keeps of them.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <new>
#include <tandem/config.hpp>
#include <tandem/io/detail/datagram_room.hpp>

namespace tandem::inline v0::io::detail {

namespace {

/// Rooms that lie one after the other begin at different places of the caches' sets: with 64 KiB from
/// one to the next, the first lines of all would want the same ones.
constexpr std::size_t apart = 19 * 64;

/// What one receive may have, and some that its last ones have given back.
constexpr std::size_t kept_most = 64;

class shelf {
 public:
  shelf() noexcept = default;
  shelf(const shelf&) = delete;
  shelf& operator=(const shelf&) = delete;
  ~shelf() {
    while (count_ != 0) ::operator delete(kept_[--count_]);
    is_closed_ = true;
  }

  void* take() noexcept { return count_ == 0 ? nullptr : kept_[--count_]; }
  bool put(void* room) noexcept {
    if (is_closed_ || count_ == kept_most) return false;
    kept_[count_++] = room;
    return true;
  }

 private:
  std::array<void*, kept_most> kept_{};
  std::size_t count_ = 0;
  bool is_closed_ = false;  // the thread ends: others of its thread-locals may come later
};

TANDEM_NOINLINE shelf& own_shelf() noexcept {
  thread_local shelf own;
  return own;
}

}  // namespace

datagram_room& take_datagram_room() {
  void* memory = own_shelf().take();
  if (memory == nullptr) {
    memory = ::operator new(sizeof(datagram_room) + datagram_room::capacity + apart);
  }
  return *::new (memory) datagram_room;
}

void give_back_datagram_room(datagram_room& room) noexcept {
  static_assert(std::is_trivially_destructible_v<datagram_room>);
  if (!own_shelf().put(&room)) ::operator delete(&room);
}

}  // namespace tandem::inline v0::io::detail
