// datagram.hpp: datagrams on their way, in the frame that awaits them or in their socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/detail/datagram_room.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/outgoing_datagram.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

/// What an operation with buffer_form::datagram points to. The backend writes peer and is_cut when
/// one was received.
class datagram {
 public:
  /// For or from whomever; of a socket that is connected.
  datagram(void* room, std::size_t size) noexcept : data(room), bytes(size) {}
  datagram(void* room, std::size_t size, const endpoint& with) noexcept
      : data(room), bytes(size), peer(with), has_peer(true) {}

  void* data;
  std::size_t bytes;
  endpoint peer;
  bool has_peer = false;  // to be sent: it says to whom
  bool is_cut = false;    // it was longer than the buffer: the system has dropped the rest
};

/// What an operation with buffer_form::train points to: equal datagrams, the last one may be shorter.
class datagram_train {
 public:
  datagram_train(const std::byte* all, std::size_t size, std::size_t each) noexcept
      : data(all), bytes(size), segment_bytes(each) {}

  /// What is still to be sent.
  std::span<const std::byte> rest() const noexcept { return {data + done, bytes - done}; }

  const std::byte* data;
  std::size_t bytes;
  std::size_t segment_bytes;
  endpoint peer;
  bool has_peer = false;
  std::size_t done = 0;  // bytes: whoever makes the call
  /// The socket's: the system has refused to cut trains for it. Relaxed: a hint, which whoever sends
  /// next reads, or finds out again.
  std::atomic<bool>* is_refused = nullptr;
};

/// What an operation with buffer_form::datagrams points to.
class datagram_list {
 public:
  explicit datagram_list(std::span<const outgoing_datagram> given) noexcept : all(given) {}
  std::span<const outgoing_datagram> rest() const noexcept { return all.subspan(done); }

  std::span<const outgoing_datagram> all;
  std::size_t done = 0;  // how many: whoever makes the call
};

/// What an operation with buffer_form::batch points to: a socket's datagrams that nobody has taken yet.
/// Of the task that receives, and, as long as its operation is under way, of whoever makes the call.
class datagram_batch {
 public:
  /// What one call asks for.
  static constexpr unsigned most = 32;

  datagram_batch() noexcept = default;
  datagram_batch(const datagram_batch&) = delete;
  datagram_batch& operator=(const datagram_batch&) = delete;
  ~datagram_batch() {
    while (first_ != nullptr) (void)take();
  }

  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return count_; }
  /// pre: not empty
  datagram_room_handle take() noexcept {
    datagram_room* const taken = first_;
    first_ = std::exchange(taken->next, nullptr);
    --count_;
    return datagram_room_handle(taken);
  }
  /// In the order of their coming. pre: the batch is empty
  void put(std::span<datagram_room* const> rooms) noexcept {
    for (std::size_t i = rooms.size(); i != 0; --i) {
      rooms[i - 1]->next = first_;
      first_ = rooms[i - 1];
    }
    count_ = rooms.size();
    was_full = count_ == asked_;
    asked_ = std::min<unsigned>(most, 2 * static_cast<unsigned>(rooms.size()) + 1);
  }
  /// How many the next call had better ask for: each costs some set-up.
  unsigned worth_asking_for() const noexcept { return asked_; }

  endpoint bound;         // what a datagram was sent to where the system does not say
  bool was_full = false;  // the last call has brought as many as it asked for: there may be more

 private:
  datagram_room* first_ = nullptr;
  std::size_t count_ = 0;
  unsigned asked_ = 2;
};

/// What stays where it is when a udp_socket moves.
class udp_state {
 public:
  datagram_batch batch;
  endpoint home;  // what it is bound to while it is not connected
  std::atomic<bool> refuses_trains{false};
};

}  // namespace tandem::inline v0::io::detail
