// registration_table.hpp: which descriptors are watched, which of them are ready, and which nobody waits for.
// SPDX-License-Identifier: MIT
//
// Protocol readiness: io/src/readiness/README.md. One thread's. Only enter() needs memory: what is
// listed has its room since then.
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <tandem/config.hpp>
#include <utility>
#include <vector>

#include "readiness/registration.hpp"

namespace tandem::inline v0::io {

/// The class of a poller's registrations, as far as it tells.
template <class Poller>
using watch_of = typename decltype(std::declval<Poller&>().make_registration())::element_type;

class registration_table {
 public:
  struct ready_side {
    registration* at;
    direction way;
  };

  registration_table() noexcept = default;
  registration_table(const registration_table&) = delete;
  registration_table& operator=(const registration_table&) = delete;

  /// Null: nothing waits for it.
  registration* find(native_descriptor descriptor) const noexcept {
    const std::size_t place = place_of(descriptor);
    return place < by_place_.size() ? by_place_[place] : nullptr;
  }
  /// All that were ever made.
  const std::vector<std::unique_ptr<registration>>& all() const noexcept { return all_; }

  /// readiness/enter. @returns  0 and where it waits, or an error number
  template <class Poller>
  TANDEM_ALWAYS_INLINE int enter(native_descriptor descriptor, bool is_ours, Poller& poller,
                                 registration*& at) noexcept {
    try {
      const std::size_t place = place_of(descriptor);
      if (place >= by_place_.size()) by_place_.resize(place + place / 2 + 16, nullptr);
      if (free_.empty()) add(poller.make_registration());
      registration& next = *free_.back();
      const int error = next.template enter<watch_of<Poller>>(descriptor, is_ours);
      if (error != 0) return error;
      free_.pop_back();
      by_place_[place] = at = &next;
      return 0;
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  }

  /// readiness/wait. The poller has seen its end: takes note.
  void waited(registration& at, direction way, int error) noexcept {
    --at.waits;
    if (!at.is_entered()) {  // it has left meanwhile
      if (at.waits == 0) free_.push_back(&at);
      return;
    }
    at.of(way).error = error;
    ready_.push_back(ready_side{&at, way});
  }
  const std::vector<ready_side>& ready() const noexcept { return ready_; }
  void clear_ready() noexcept { ready_.clear(); }

  void list_if_idle(registration& at) noexcept {
    if (!at.is_idle() || std::exchange(at.is_listed, true)) return;
    idle_.push_back(&at);
  }
  /// readiness/leave
  template <class Watch>
  void leave_if_idle(registration& at) noexcept {
    if (!at.is_idle() || !at.is_entered()) return;
    by_place_[place_of(at.descriptor())] = nullptr;
    at.leave<Watch>();
    if (at.waits == 0) free_.push_back(&at);
  }
  /// readiness/leave. Those that were listed and are idle still.
  template <class Watch>
  void let_idle_leave() noexcept {
    for (registration* const each : idle_) {
      each->is_listed = false;
      leave_if_idle<Watch>(*each);
    }
    idle_.clear();
  }

 private:
  /// Numbers are small, and near to each other (native_descriptor.hpp).
  static std::size_t place_of(native_descriptor descriptor) noexcept {
    return static_cast<std::size_t>(descriptor) / detail::descriptor_step;
  }
  void add(std::unique_ptr<registration> made) {
    // So that no list allocates where nothing may throw: a registration is at most once in free_
    // and in idle_, and twice in ready_.
    const std::size_t count = all_.size() + 1;
    if (idle_.capacity() < count) {
      free_.reserve(2 * count);
      ready_.reserve(4 * count);
      idle_.reserve(2 * count);
    }
    all_.push_back(std::move(made));
    free_.push_back(all_.back().get());
  }

  std::vector<std::unique_ptr<registration>> all_;
  std::vector<registration*> by_place_;  // of the descriptor
  std::vector<registration*> free_;
  std::vector<registration*> idle_;  // perhaps; looked at by let_idle_leave()
  std::vector<ready_side> ready_;    // from wait() to reap()
};

}  // namespace tandem::inline v0::io
