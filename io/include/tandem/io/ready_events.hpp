// ready_events.hpp: what a descriptor of another library is watched for, and what it is ready for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tandem::inline v0::io {

/// What a watch waits for.
enum class watch_interest : std::uint8_t {
  none = 0,  ///< paused: nothing wakes anybody, also if the peer leaves
  read = 1,
  write = 2,
  read_write = 3,
};

constexpr watch_interest operator|(watch_interest a, watch_interest b) noexcept {
  return static_cast<watch_interest>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// Whether `wanted` has the whole of `part`.
constexpr bool includes(watch_interest wanted, watch_interest part) noexcept {
  return (static_cast<unsigned>(wanted) & static_cast<unsigned>(part)) ==
         static_cast<unsigned>(part);
}

/// What a descriptor was ready for, of what was asked; an error and a peer that has left are told
/// whatever was asked.
class ready_events {
 public:
  constexpr ready_events() noexcept = default;
  constexpr ready_events(bool readable, bool writable, bool error, bool hung_up) noexcept
      : readable_(readable), writable_(writable), error_(error), hung_up_(hung_up) {}

  constexpr bool readable() const noexcept { return readable_; }
  constexpr bool writable() const noexcept { return writable_; }
  /// The descriptor has an error to be read (SO_ERROR), or the system refuses to watch it.
  constexpr bool error() const noexcept { return error_; }
  /// Both directions have ended. What had come before can still be read.
  constexpr bool hung_up() const noexcept { return hung_up_; }
  friend constexpr bool operator==(const ready_events&, const ready_events&) noexcept = default;

 private:
  bool readable_ = false;
  bool writable_ = false;
  bool error_ = false;
  bool hung_up_ = false;
};

}  // namespace tandem::inline v0::io
