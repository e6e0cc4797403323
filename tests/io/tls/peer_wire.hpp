// peer_wire.hpp: between tandem and a foreign program: passes on, keeps back, or resets.
// SPDX-License-Identifier: MIT
//
// One connection, on threads of its own, with plain calls: nothing of what it tests. The test says
// what happens; fault_proxy.hpp has one whose faults are drawn.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "plain_sockets.hpp"

namespace tandem::test {

enum class wire_end : std::uint8_t { ours, peers };

class peer_wire {
 public:
  /// @param connects  who connects to it; it connects to the other one, then
  /// @param to_port   where that one listens
  peer_wire(wire_end connects, std::uint16_t to_port);
  peer_wire(const peer_wire&) = delete;
  peer_wire& operator=(const peer_wire&) = delete;
  ~peer_wire();

  std::uint16_t port() const noexcept { return port_; }

  /// From now on what this end sends is kept back: the next bytes here, all others where they are.
  void keep_back(wire_end from);
  /// So is all but the first that comes of it.
  void keep_back_after_first(wire_end from);
  void let_pass(wire_end from);
  /// How many bytes this end has sent; those that are kept back here are counted.
  std::size_t taken(wire_end from) const;
  /// Waits until it has sent more than so many bytes.
  void wait_for_more(wire_end from, std::size_t than);
  /// Waits until it has ended, in whatever way.
  void wait_for_end(wire_end of);

  /// Our end is reset. Nothing passes any more.
  void reset_ours();

 private:
  class lane {
   public:
    plain_socket from = io::no_descriptor;
    plain_socket to = io::no_descriptor;
    // Under the lock.
    std::size_t taken = 0;
    std::size_t pass_first = 0;  // what may pass before it is kept back
    bool is_kept_back = false;
    bool has_ended = false;
  };

  void connect();
  void pass(lane& way);
  /// @param ours_too  our end is told that this was all; else it is told nothing
  void stop(bool ours_too);
  lane& way_from(wire_end which) noexcept { return lanes_[which == wire_end::ours ? 0 : 1]; }
  const lane& way_from(wire_end which) const noexcept {
    return lanes_[which == wire_end::ours ? 0 : 1];
  }

  const wire_end connects_;
  const std::uint16_t to_port_;
  std::uint16_t port_ = 0;
  const plain_socket listener_;
  const std::array<plain_socket, 2> stop_;  // readable: [0], for ever, from stop() on
  std::array<lane, 2> lanes_;               // from us, from the peer

  mutable std::mutex lock_;
  std::condition_variable changed_;
  bool is_connected_ = false;
  bool is_stopped_ = false;

  std::array<std::thread, 2> threads_;
};

}  // namespace tandem::test
