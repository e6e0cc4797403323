// operation_list.hpp: operations in a row, linked through the room that each has for its backend.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <new>
#include <tandem/io/detail/operation.hpp>

namespace tandem::inline v0::io {

using detail::direction;

class receive_wait;
class registration;

/// What a backend of readiness keeps in an operation from submit to its completion.
class operation_entry {
 public:
  explicit operation_entry(direction waits_for) noexcept : way(waits_for) {}

  detail::operation* previous = nullptr;
  detail::operation* next = nullptr;
  registration* at = nullptr;  // where it waits
  direction way;
  std::uint32_t transfer = 0;     // of a file: its call, where the poller has files
  receive_wait* armed = nullptr;  // it waits for a source
};
static_assert(sizeof(operation_entry) <= detail::operation::backend_bytes);

inline operation_entry& entry_of(detail::operation& operation) noexcept {
  return *std::launder(reinterpret_cast<operation_entry*>(
      operation.backend_room()));  // NOLINT: submit made it there
}

/// First in, first out; any of them may leave early. An operation is in at most one.
class operation_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  detail::operation* front() const noexcept { return first_; }

  void push_back(detail::operation& added) noexcept {
    operation_entry& entry = entry_of(added);
    entry.previous = last_;
    entry.next = nullptr;
    (last_ != nullptr ? entry_of(*last_).next : first_) = &added;
    last_ = &added;
  }
  void remove(detail::operation& gone) noexcept {
    const operation_entry& entry = entry_of(gone);
    (entry.previous != nullptr ? entry_of(*entry.previous).next : first_) = entry.next;
    (entry.next != nullptr ? entry_of(*entry.next).previous : last_) = entry.previous;
  }
  detail::operation* pop_front() noexcept {
    detail::operation* const popped = first_;
    if (popped != nullptr) remove_front();
    return popped;
  }
  /// pre: not empty
  void remove_front() noexcept {
    first_ = entry_of(*first_).next;
    (first_ != nullptr ? entry_of(*first_).previous : last_) = nullptr;
  }

 private:
  detail::operation* first_ = nullptr;
  detail::operation* last_ = nullptr;
};

}  // namespace tandem::inline v0::io
