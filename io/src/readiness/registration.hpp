// registration.hpp: one descriptor that is watched, and the operations that wait for it.
// SPDX-License-Identifier: MIT
//
// It lives while an operation waits: the descriptor is closed by its owner, who knows nothing of
// us, and its number may be another one's a moment later. At most one wait of each direction is
// with the poller, however many operations wait. Given back early, it is used again when the poller
// has told of its last wait.
#pragma once

#include <array>
#include <cstddef>
#include <tandem/config.hpp>
#include <tandem/io/native_descriptor.hpp>

#include "readiness/operation_list.hpp"

namespace tandem::inline v0::io {

/// Each poller derives its own: what it needs to watch a descriptor lies beside.
class registration {
 public:
  struct side {
    operation_list waiting;
    bool armed = false;  // a wait is with the poller, or has ended and was not looked at
    int error = 0;       // of that wait
  };

  registration() noexcept = default;
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;
  virtual ~registration() = default;

  /// readiness/enter. pre: not entered, and no wait is with the poller
  /// @returns  0 or an error number. @throws std::bad_alloc
  template <class Watch>
  TANDEM_ALWAYS_INLINE int enter(native_descriptor descriptor, bool is_ours) {
    const int error = as<Watch>().begin(descriptor, is_ours);
    if (error != 0) return error;
    number_ = descriptor;
    is_entered_ = true;
    return 0;
  }
  /// readiness/leave. The waits end, and are told of later. pre: idle, or never used again
  template <class Watch = registration>
  void leave() noexcept {
    if (!is_entered_) return;
    as<Watch>().end();
    is_entered_ = false;
    for (side& each : sides_) {
      each.armed = false;
      each.error = 0;
    }
  }

  /// pre: entered, and no wait of that direction is with the poller
  /// @returns  0 or an error number: then nothing was begun
  template <class Watch>
  TANDEM_ALWAYS_INLINE int wait(direction way) noexcept {
    ++waits;
    const int error = as<Watch>().begin_wait(way);
    if (error != 0) {
      --waits;
    } else {
      of(way).armed = true;
    }
    return error;
  }

  bool is_entered() const noexcept { return is_entered_; }
  bool is_idle() const noexcept { return sides_[0].waiting.empty() && sides_[1].waiting.empty(); }
  /// Its owner's number.
  native_descriptor descriptor() const noexcept { return number_; }
  side& of(direction way) noexcept { return sides_[static_cast<std::size_t>(way)]; }

  unsigned waits = 0;      // with the poller, and not told of
  bool is_listed = false;  // among those that reap() looks at, since they may be idle

 private:
  /// What it is: where that is a final class, none of the calls below costs a look into a table.
  template <class Watch>
  Watch& as() noexcept {
    return static_cast<Watch&>(*this);
  }

  /// @returns  0 or an error number. @throws std::bad_alloc
  virtual int begin(native_descriptor descriptor, bool is_ours) = 0;
  /// post: nothing of the descriptor is used any more
  virtual void end() noexcept = 0;
  /// post: the table will be told of it, whether the descriptor is ready, or the registration has
  ///       left meanwhile; not before the poller is asked to look
  virtual int begin_wait(direction way) noexcept = 0;

  std::array<side, 2> sides_;
  native_descriptor number_ = no_descriptor;
  bool is_entered_ = false;
};

}  // namespace tandem::inline v0::io
