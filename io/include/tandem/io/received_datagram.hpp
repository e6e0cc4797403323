// received_datagram.hpp: one datagram, or several of one sender at once, in memory of the library.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/detail/datagram_room.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/udp_options.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// What udp_socket::receive() yields.
///
///     tandem::io::received_datagram got = co_await socket.receive();
///     for (std::span<std::byte> each : got.segments()) answer(each, got.sender());
///
/// The memory is the library's and goes back when this ends, which may be on any thread, and after
/// socket and runtime.
///
/// @thread_safety  move-only; by its owner
class received_datagram {
 public:
  /// The datagrams that have come as one, in order. An empty datagram is one.
  class segment_range {
   public:
    class iterator {
     public:
      using value_type = std::span<std::byte>;
      using difference_type = std::ptrdiff_t;

      iterator() noexcept = default;
      iterator(std::span<std::byte> rest, std::size_t each, bool at_end) noexcept
          : rest_(rest), each_(each), at_end_(at_end) {}
      std::span<std::byte> operator*() const noexcept {
        return rest_.first(rest_.size() < each_ ? rest_.size() : each_);
      }
      iterator& operator++() noexcept {
        rest_ = rest_.subspan((**this).size());
        at_end_ = rest_.empty();
        return *this;
      }
      iterator operator++(int) noexcept {
        iterator before = *this;
        ++*this;
        return before;
      }
      friend bool operator==(const iterator& a, const iterator& b) noexcept {
        return a.at_end_ == b.at_end_ && a.rest_.size() == b.rest_.size();
      }

     private:
      std::span<std::byte> rest_;
      std::size_t each_ = 0;
      bool at_end_ = true;
    };

    segment_range(std::span<std::byte> all, std::size_t each) noexcept : all_(all), each_(each) {}
    iterator begin() const noexcept { return {all_, each_, false}; }
    iterator end() const noexcept { return {all_.last(0), each_, true}; }
    std::size_t size() const noexcept {
      return all_.size() <= each_ ? 1 : (all_.size() + each_ - 1) / each_;
    }

   private:
    std::span<std::byte> all_;
    std::size_t each_;
  };

  /// Of nothing: none was received.
  received_datagram() noexcept = default;
  explicit received_datagram(detail::datagram_room_handle room) noexcept : room_(std::move(room)) {}

  bool has_value() const noexcept { return room_ != nullptr; }
  /// Of one its contents; of several that came as one ALL of them, without gaps: see segments().
  /// Yours to change. pre, here and below: has_value()
  std::span<std::byte> bytes() const noexcept { return {room_->data(), room_->size}; }
  segment_range segments() const noexcept { return {bytes(), segment_bytes()}; }
  /// Of each but the last one, which may be shorter: what udp_socket::send_train() takes.
  std::size_t segment_bytes() const noexcept {
    return room_->segment_bytes != 0 ? room_->segment_bytes : room_->size;
  }
  /// Who has sent it.
  const endpoint& sender() const noexcept { return room_->sender; }
  /// What it was sent to: the socket's port at the address that the sender has used, also where the
  /// socket is bound to all of them, or has joined a group.
  const endpoint& receiver() const noexcept { return room_->receiver; }
  /// By which interface it came, as the system numbers them; 0: not told.
  std::uint32_t interface_index() const noexcept { return room_->interface_index; }
  ecn_mark mark() const noexcept { return room_->mark; }

 private:
  detail::datagram_room_handle room_;
};

}  // namespace tandem::inline v0::io
