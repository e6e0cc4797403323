// refused_sends.hpp: a system that refuses to send datagrams, or to cut trains of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tandem::test {

/// While it lives, sendmsg() fails so for trains (UDP_SEGMENT), of any socket.
class refused_trains {
 public:
  explicit refused_trains(int error) noexcept;
  ~refused_trains();
  refused_trains(const refused_trains&) = delete;
  refused_trains& operator=(const refused_trains&) = delete;

  std::size_t asked() const noexcept;
};

/// While it lives, sendmsg() and sendmmsg() fail so, for each datagram after the first `after` ones.
class refused_sends {
 public:
  explicit refused_sends(int error, std::size_t after = 0) noexcept;
  ~refused_sends();
  refused_sends(const refused_sends&) = delete;
  refused_sends& operator=(const refused_sends&) = delete;
};

}  // namespace tandem::test
