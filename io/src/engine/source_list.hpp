// source_list.hpp: what comes on a completion thread without being asked each time, in one list.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::io {

/// A place in the list. (Apart from the source: UndefinedBehaviorSanitizer needs a descriptor to look
/// at an object with virtual functions, and a source is listed also when there is none.)
class source_link {
 public:
  source_link() noexcept = default;

  source_link* next = nullptr;
  source_link* previous = nullptr;
};

/// One of them: the receives of a connection, the accepts of a listener. The owner of its thread
/// calls it.
class thread_source : public source_link {
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

 protected:
  ~thread_source() = default;
};

/// The owner's.
class source_list {
 public:
  /// It is there already, or now.
  void keep(source_link& source) noexcept {
    if (has(source)) return;
    source.next = first_;
    if (first_ != nullptr) first_->previous = &source;
    first_ = &source;
  }
  /// It may not be there.
  void forget(source_link& source) noexcept {
    if (!has(source)) return;
    (source.previous != nullptr ? source.previous->next : first_) = source.next;
    if (source.next != nullptr) source.next->previous = source.previous;
  }
  void hold_back() noexcept {
    for (source_link* each = first_; each != nullptr; each = each->next) of(each).hold_back();
  }
  bool any_armed() const noexcept {
    for (source_link* each = first_; each != nullptr; each = each->next) {
      if (of(each).is_armed()) return true;
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
    source_link* each = first_;
    first_ = nullptr;
    while (each != nullptr) {
      source_link* const next = each->next;
      of(each).leave();
      each = next;
    }
  }

 private:
  static thread_source& of(source_link* link) noexcept {
    return static_cast<thread_source&>(*link);
  }
  bool has(const source_link& source) const noexcept {
    return source.previous != nullptr || first_ == &source;
  }
  source_link* first_ = nullptr;
};

}  // namespace tandem::inline v0::io
