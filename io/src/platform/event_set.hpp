// event_set.hpp: which of many sockets have become ready, told once for each time.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// Any thread adds, removes and wakes; one at a time waits.
class event_set {
 public:
  class event {
   public:
    void* key = nullptr;
    bool readable = false;
    bool writable = false;
    bool ended = false;   ///< by the peer, or by a failure: it may be told only once
    bool urgent = false;  ///< there is urgent data: a read ends before it, whatever follows
  };
  static constexpr std::size_t most_events = 128;
  using events = std::array<event, most_events>;

  /// @throws  std::system_error, which names the step that was refused
  event_set();
  event_set(const event_set&) = delete;
  event_set& operator=(const event_set&) = delete;
  ~event_set();

  /// From now on whatever comes, and what is there already, is told once, of these directions.
  ///
  /// @returns  false if the system refuses: for want of memory, or since there are too many
  [[nodiscard]] bool add(native_descriptor descriptor, void* key, bool reads, bool writes) noexcept;
  /// Other directions, of one that was added.
  [[nodiscard]] bool change(native_descriptor descriptor, void* key, bool reads,
                            bool writes) noexcept;
  /// Before it is closed: nothing is told any more once a wait that is under way has returned.
  /// pre: is_own()
  void remove(native_descriptor descriptor) noexcept;
  /// False in a child of fork(), which has the set in common with its parent.
  bool is_own() const noexcept;

  /// Until something has happened, wake(), or that time by the steady clock (never later than a
  /// millisecond after it).
  ///
  /// @param until_ns  INT64_MIN: a look; INT64_MAX: no deadline
  /// @returns         how many of `out` there are; 0 also for wake(), or for nothing
  std::size_t wait(events& out, std::int64_t until_ns) noexcept;
  /// The wait that is under way ends, or else the next one.
  void wake() noexcept;

 private:
  void close() noexcept;

  int set_ = -1;
  int event_ = -1;
  const int process_;
};

}  // namespace tandem::inline v0::io::platform
