// scope_watch.cpp: says when children are left behind with references to variables that are gone.
// SPDX-License-Identifier: MIT
#include "combine/scope_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <tandem/detail/thread_exit.hpp>
#include <utility>

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t remembered = 16;

struct noted_frames {
  std::array<noted_frame, remembered> last{};
  std::size_t count = 0;  // all that have been noted
};
// Of this thread. Not in place: the system has some 1.5 KiB for what all libraries together that a
// program loads later have for each thread in place.
constinit thread_local noted_frames* noted = nullptr;
constinit thread_local bool notes_nothing = false;  // there was no memory, or the thread ends

void end_notes() noexcept {
  notes_nothing = true;
  delete std::exchange(noted, nullptr);
}

/// @returns  null if the thread notes nothing
TANDEM_NOINLINE noted_frames* begin_notes() noexcept {
  if (notes_nothing) return nullptr;
  noted = new (std::nothrow) noted_frames;
  if (noted == nullptr || !at_thread_exit(exit_step::notes, &end_notes)) {
    end_notes();
  }
  return noted;
}

}  // namespace

void note_frame(const void* frame, std::size_t bytes) noexcept {
  noted_frames* const own = noted != nullptr ? noted : begin_notes();
  if (own == nullptr) return;
  noted_frame& next = own->last[own->count++ % remembered];
  next.frame = frame;
  next.bytes = bytes;
  next.count = 0;
}

void note_references(const void* frame, const void* const* references, std::size_t count) noexcept {
  if (noted == nullptr || noted->count == 0) return;
  noted_frame& newest = noted->last[(noted->count - 1) % remembered];
  if (newest.frame != frame) return;  // copying a parameter has made another one
  newest.count = std::min(count, noted_frame::most_references);
  std::copy_n(references, newest.count, newest.references.begin());
}

const noted_frame* find_noted(const void* frame) noexcept {
  if (noted == nullptr) return nullptr;
  // Newest first: the memory of an older one may be a newer one's.
  for (std::size_t back = 1; back <= std::min(noted->count, remembered); ++back) {
    const noted_frame& each = noted->last[(noted->count - back) % remembered];
    if (each.frame == frame) return &each;
  }
  return nullptr;
}

void scope_watch::add(const root& child, const std::source_location& spawned_at) noexcept {
  const std::lock_guard guard(lock_);
  try {
    borrowers_.push_back(borrower{&child, spawned_at});
  } catch (const std::bad_alloc&) {  // then it is not noticed
  }
}

void scope_watch::ended(const root& child) noexcept {
  const std::lock_guard guard(lock_);
  std::erase_if(borrowers_, [&child](const borrower& each) { return each.child == &child; });
}

void scope_watch::body_has_ended() noexcept {
  const std::lock_guard guard(lock_);
  if (borrowers_.empty()) return;
  const std::source_location& where = borrowers_.front().spawned_at;
  std::fprintf(
      stderr,
      "tandem: the body of a scope has ended, and its variables with it, but %zu of the scope's "
      "children that were given references to them still run; one was spawned at %s:%u in %s\n"
      "  Let the body's last line be `co_await scope.join();`, or let the variables stand outside "
      "of the body.\n",
      borrowers_.size(), where.file_name(), where.line(), where.function_name());
}

}  // namespace tandem::inline v0::detail
