// level.hpp: a row of open positions, expanded by all workers.
// SPDX-License-Identifier: MIT
//
// A level (of a breadth-first search, or a batch of a best-first one) is shared out by a cursor
// (searching/cursor) among a few forked tasks, never a task per position. Each takes batches of the
// length that its pacer finds right, shorter ones towards the end, so that all are done at about
// the same time. A level of one batch is searched without a fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/detail/search/search_control.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0::detail {

/// What one task of a level works with, kept from level to level for its memory: a base. The task's
/// own in a level, the solver's between levels (searching/collect).
class level_part {
 public:
  explicit level_part(std::size_t number) noexcept : index(number) {}

  search_pacer pacer;
  const std::size_t index;
};

/// The tasks that expand levels.
template <class Part>
class level_crew {
 public:
  level_crew(search_control& control, unsigned workers) noexcept
      : control_(control), workers_(workers) {}

  /// Expands `size` positions by `search.expand(part, first, last)`, called for all batches, by
  /// several tasks at once. It gives the number of new positions. What it throws ends the search;
  /// the await does not throw it.
  template <class Search>
  static task<void> run(level_crew& self, Search& search, std::size_t size, std::uint64_t depth) {
    self.size_ = size;
    self.depth_ = depth;
    self.cursor_.store(0, std::memory_order_relaxed);  // searching/collect: the fork publishes it
    const std::size_t strides = (size + self.stride_ - 1) / self.stride_;
    const std::size_t forked = std::min<std::size_t>(self.workers_, strides);
    while (self.parts_.size() < forked) {
      self.parts_.push_back(std::make_unique<Part>(self.control_, self.parts_.size()));
    }
    if (forked == 1) {
      co_await work(self, search, *self.parts_.front());
    } else {
      std::vector<task<void>> tasks;
      tasks.reserve(forked);
      for (std::size_t i = 0; i < forked; ++i) {
        tasks.push_back(work(self, search, *self.parts_[i]));
      }
      co_await fork_join(std::move(tasks));
    }
    self.take_longest_stride(forked);
    // Many short levels are a long segment, too.
    if (self.turn_.segment_over(search_pacer::clock::now())) {
      co_await yield();
      self.turn_.begin_segment();
    }
  }

  /// The parts of all levels so far.
  const std::vector<std::unique_ptr<Part>>& parts() const noexcept { return parts_; }
  unsigned workers() const noexcept { return workers_; }

 private:
  template <class Search>
  static task<void> work(level_crew& self, Search& search, Part& own) {
    try {
      own.pacer = search_pacer(static_cast<std::uint32_t>(self.stride_));
      while (self.control_.running()) {
        const std::size_t stride = self.next_stride(own.pacer);
        // searching/cursor
        const std::size_t first = self.cursor_.fetch_add(stride, std::memory_order_relaxed);
        if (first >= self.size_) break;
        const std::size_t last = (std::min)(first + stride, self.size_);
        const std::uint64_t found = search.expand(own, first, last);
        self.control_.checkpoint(own.pacer, found, static_cast<std::uint32_t>(last - first),
                                 self.depth_);
        if (!own.pacer.segment_over()) continue;
        co_await yield();
        own.pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
  }

  std::size_t next_stride(const search_pacer& pacer) const noexcept {
    const std::size_t taken = cursor_.load(std::memory_order_relaxed);  // a hint
    const std::size_t left = taken < size_ ? size_ - taken : 0;
    const std::size_t fair = std::max<std::size_t>(left / (2 * workers_), shortest_batch);
    return std::min<std::size_t>({pacer.stride(), fair, longest_batch});
  }

  void take_longest_stride(std::size_t forked) noexcept {
    std::size_t longest = 1;
    for (std::size_t i = 0; i < forked; ++i) {
      longest = std::max<std::size_t>(longest, parts_[i]->pacer.stride());
    }
    stride_ = (std::min)(longest, longest_batch);
  }

  static constexpr std::size_t shortest_batch = 32;
  static constexpr std::size_t longest_batch = 512;

  search_control& control_;
  const unsigned workers_;
  search_pacer turn_;
  std::size_t stride_ = 1;  // what the pacers found right in the last level
  std::size_t size_ = 0;
  std::uint64_t depth_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;
  alignas(64) std::atomic<std::size_t> cursor_{0};  // the next position to be expanded
};

}  // namespace tandem::inline v0::detail
