// frame_cache.cpp: lending, keeping and freeing the block of a frame.
// SPDX-License-Identifier: MIT
#include <new>
#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/io/detail/frame_cache.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

void frame_cache::begin_operation() noexcept {
  TANDEM_ASSERT(!busy_, "a second read, or write, of an any_stream while one is under way");
  busy_ = true;
}

void frame_cache::check_idle() const noexcept {
  TANDEM_ASSERT(!busy_,
                "an any_stream was moved, closed or destroyed while an operation was in flight on "
                "it: stop and await it first");
}

frame_cache::~frame_cache() {
  check_idle();
  if (kept_ != nullptr) kept_->free();
}

void* frame_cache::take(std::size_t bytes) {
  block* lending = std::exchange(kept_, nullptr);
  if (lending != nullptr && lending->bytes < sizeof(block) + bytes) {
    std::exchange(lending, nullptr)->free();
  }
  if (lending == nullptr) lending = block::make(*this, bytes);
  return lending->frame();
}

void frame_cache::give_back(void* frame) noexcept {
  block* const back = block::of(frame);
  frame_cache& owner = *back->owner;
  // AddressSanitizer is to see each use of a frame that has ended.
  if (TANDEM_KEEP_FRAMES && owner.kept_ == nullptr) {
    owner.kept_ = back;
  } else {
    back->free();
  }
}

frame_cache::block* frame_cache::block::make(frame_cache& owner, std::size_t bytes) {
  static_assert(sizeof(block) % 16 == 0, "frames behind it are aligned as they have to be");
  const std::size_t all = sizeof(block) + bytes;
  return new (tandem::detail::allocate_frame(all)) block{&owner, all};
}

frame_cache::block* frame_cache::block::of(void* frame) noexcept {
  return static_cast<block*>(frame) - 1;
}

void frame_cache::block::free() noexcept { tandem::detail::free_frame(this, bytes); }

}  // namespace tandem::inline v0::io::detail
