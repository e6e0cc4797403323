// source_list.hpp: what comes on a completion thread without being asked each time, in one list.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::io {

/// One of them: the receives of a connection, the accepts of a listener. The owner of its thread
/// calls it.
class thread_source {
 public:
  thread_source() noexcept = default;
  thread_source(const thread_source&) = delete;
  thread_source& operator=(const thread_source&) = delete;

  /// receiving/hold_back, moving/cancel. The backend is asked for the end, if it is armed and was
  /// not asked yet.
  virtual void hold_back() noexcept = 0;
  virtual bool is_armed() const noexcept = 0;
  /// After its thread's end: whoever closes it does all himself.
  virtual void leave() noexcept = 0;

  thread_source* next = nullptr;  // in the list, the owner's
  thread_source* previous = nullptr;

 protected:
  ~thread_source() = default;
};

/// The owner's.
class source_list {
 public:
  /// It is there already, or now.
  void keep(thread_source& source) noexcept {
    if (has(source)) return;
    source.next = first_;
    if (first_ != nullptr) first_->previous = &source;
    first_ = &source;
  }
  /// It may not be there.
  void forget(thread_source& source) noexcept {
    if (!has(source)) return;
    (source.previous != nullptr ? source.previous->next : first_) = source.next;
    if (source.next != nullptr) source.next->previous = source.previous;
  }
  void hold_back() noexcept {
    for (thread_source* each = first_; each != nullptr; each = each->next) each->hold_back();
  }
  bool any_armed() const noexcept {
    for (thread_source* each = first_; each != nullptr; each = each->next) {
      if (each->is_armed()) return true;
    }
    return false;
  }
  /// The thread ends. @returns whether the backend has nothing of them any more
  bool end() noexcept {
    hold_back();
    return !any_armed();
  }
  /// Once: whatever has left may be closed, and gone, at any time.
  void leave() noexcept {
    thread_source* each = first_;
    first_ = nullptr;
    while (each != nullptr) {
      thread_source* const next = each->next;
      each->leave();
      each = next;
    }
  }

 private:
  bool has(const thread_source& source) const noexcept {
    return source.previous != nullptr || first_ == &source;
  }
  thread_source* first_ = nullptr;
};

}  // namespace tandem::inline v0::io
