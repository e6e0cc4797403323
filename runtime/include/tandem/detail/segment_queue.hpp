// segment_queue.hpp: values in order, in blocks that come and go with their number.
// SPDX-License-Identifier: MIT
//
// Blocks have the memory that frames have (frame_memory.hpp): up to 1 KiB, so many values as fit
// in, but at least four. A block that was emptied is handed out, to be freed outside of the lock;
// the last one stays, so a queue that is short most of the time allocates nothing. No lock of its
// own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>

namespace tandem::inline v0::detail {

template <class T>
class segment_queue {
  static constexpr std::size_t block_bytes = frame_class_count * frame_granule_bytes;
  static constexpr std::size_t fit = (block_bytes - 16) / sizeof(T);
  static constexpr std::size_t places = fit < 4 ? 4 : fit;

 public:
  struct segment : frame_allocated {
    segment() noexcept {}
    segment(const segment&) = delete;
    segment& operator=(const segment&) = delete;
    ~segment() {}  // NOLINT: the queue destroys its values
    segment* next = nullptr;
    union {
      T values[places];
    };
  };
  using fresh_segment = std::unique_ptr<segment>;

  segment_queue() noexcept = default;
  segment_queue(const segment_queue&) = delete;
  segment_queue& operator=(const segment_queue&) = delete;
  ~segment_queue() {
    while (first_ != nullptr) {
      const std::size_t end = first_ == last_ ? to_ : places;
      std::destroy(first_->values + from_, first_->values + end);
      from_ = 0;
      delete std::exchange(first_, first_->next);
    }
  }

  bool empty() const noexcept { return first_ == last_ && from_ == to_; }
  /// Whether the next value needs one more segment.
  bool is_full() const noexcept { return last_ == nullptr || to_ == places; }
  /// @param fresh  taken if it is full, else untouched
  void push(T& value, fresh_segment& fresh) noexcept {
    if (is_full()) {
      segment* const more = fresh.release();
      (last_ != nullptr ? last_->next : first_) = more;
      last_ = more;
      to_ = 0;
      ++segments_;
    }
    std::construct_at(last_->values + to_, std::move(value));
    ++to_;
  }
  /// Not of an empty one. @returns a segment to free, or null
  fresh_segment pop(std::optional<T>& into) noexcept {
    T& oldest = first_->values[from_];
    into.emplace(std::move(oldest));
    std::destroy_at(std::addressof(oldest));
    ++from_;
    if (first_ == last_) {
      if (from_ == to_) from_ = to_ = 0;
    } else if (from_ == places) {
      from_ = 0;
      --segments_;
      return fresh_segment(std::exchange(first_, first_->next));
    }
    return nullptr;
  }
  void swap(segment_queue& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(from_, other.from_);
    std::swap(to_, other.to_);
    std::swap(segments_, other.segments_);
  }
  std::size_t memory_bytes() const noexcept { return segments_ * sizeof(segment); }

 private:
  segment* first_ = nullptr;
  segment* last_ = nullptr;
  std::size_t from_ = 0;  // of the oldest value in the first one
  std::size_t to_ = 0;    // of the next value in the last one
  std::size_t segments_ = 0;
};

}  // namespace tandem::inline v0::detail
