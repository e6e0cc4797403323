// scan.hpp: the engine of parallel_scan: one pass over what one worker gets to, two over the rest.
// SPDX-License-Identifier: MIT
//
// A scan is sequential but for this: a piece whose sum is known can be stepped over. So the range
// is cut into tiles, and goes in rounds. Protocol scan:
//   front   the front scans tiles from the left, which is final: it knows what comes before them
//   reduce  meanwhile reducers, if workers are free, sum up tiles from a mark one share ahead,
//           which is a third of what is left on two workers; they stop when each has done a share,
//           or when the front is there
//   finish  then the offsets of the summed tiles are known, and they are scanned in parallel with
//           the next round, which takes the tiles that nobody got to
// A reducer that comes late sets its mark ahead of where the front is then; one that never comes
// costs nothing. So a lone worker makes one pass, and two of them need 2/3 of its time. No tile is
// read more than twice, and of all that p workers do no more than (p - 1) / p of a pass is the
// second reading. (Blelloch's work-efficient scan, CMU-CS-90-190, with the up-sweep cut short.)
//
// The word of a round: the front's next tile in the low half, the mark in the high one. The front
// raises the low half by one until it meets the mark; the first reducer lowers the mark once, to a
// tile above the front. Both by CAS, so each tile below the mark is the front's and no other.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <tandem/detail/item_source.hpp>
#include <tandem/detail/partition.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0::detail {

/// The front and the mark of one round; lives in the round's frame.
class scan_round {
 public:
  scan_round(std::size_t first, std::size_t end) noexcept : word_(pack(first, end)), end_(end) {}

  /// The front's next tile; false if it has met the mark (or the end).
  bool advance(std::size_t& tile) noexcept {
    // Relaxed throughout: tiles are handed out here; the join orders what was done with them.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (true) {
      if (front(seen) >= mark(seen)) return false;
      if (word_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {
        tile = front(seen);
        return true;
      }
    }
  }
  /// Sets the mark, once. False: too little is left to be worth it.
  bool set_mark(std::size_t workers) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (true) {
      const std::size_t at = front(seen);
      const std::size_t share = std::max<std::size_t>((end_ - at) / (workers + 1), 1);
      const std::size_t tile = at + share;
      if (tile + 1 >= end_) return false;
      // Before the reducers are forked, and read after they have ended. Nobody needs the last sum.
      next_.store(tile, std::memory_order_relaxed);
      limit_ = (std::min)(tile + (workers - 1) * share, end_ - 1);
      if (word_.compare_exchange_weak(seen, pack(at, tile), std::memory_order_relaxed)) return true;
    }
  }
  /// A reducer's next tile; false when the front has arrived, or the reducers have done their
  /// share.
  bool take(std::size_t& tile) noexcept {
    if (arrived()) return false;
    tile = next_.fetch_add(1, std::memory_order_relaxed);
    return tile < limit_;
  }

  bool arrived() const noexcept {
    const std::uint64_t seen = word_.load(std::memory_order_relaxed);
    return front(seen) >= mark(seen);
  }
  /// After the round: the first tile that the front has not scanned, the first that has no sum.
  std::size_t scanned_end() const noexcept { return mark(word_.load(std::memory_order_relaxed)); }
  std::size_t summed_end() const noexcept {
    if (scanned_end() == end_) return end_;
    return (std::min)(next_.load(std::memory_order_relaxed), limit_);
  }

 private:
  static std::uint64_t pack(std::size_t front, std::size_t mark) noexcept {
    return std::uint64_t{mark} << 32U | std::uint64_t{front};
  }
  static std::size_t front(std::uint64_t word) noexcept { return word & 0xFFFF'FFFFU; }
  static std::size_t mark(std::uint64_t word) noexcept { return word >> 32U; }

  std::atomic<std::uint64_t> word_;
  std::atomic<std::size_t> next_{0};
  std::size_t limit_ = 0;  // written by the first reducer, before there are others
  std::size_t end_;
};

/// One call. Tiles lie behind what was scanned inline, `leaf` items each.
template <bool Inclusive, class Input, class Output, class T, class Operation>
class scan {
 public:
  using rest_type = void;

  scan(Input&& input, Output&& output, std::optional<T>&& before, Operation&& operation,
       std::size_t grain)
      : input_(std::move(input)),
        output_(std::move(output)),
        before_(std::move(before)),
        operation_(std::move(operation)),
        plan_(grain) {}

  bool run_inline() {
    count_ = input_.size();
    if (count_ == 0) return true;
    control_.enter();
    done_ = plan_.begin(
        count_, [this](std::size_t from, std::size_t to) { scan_items(before_, from, to); });
    if (done_ == count_) return true;
    tile_items_ = plan_.leaf();
    // A round's word counts tiles in 32 bits.
    constexpr std::size_t most_tiles = 0x7FFF'FFFF;
    tile_items_ = (std::max)(tile_items_, (count_ - done_) / most_tiles + 1);
    workers_ = workers_for_pieces();
    return false;
  }
  task<void> rest() { return run_rest(*this); }
  void conclude(outcome<void>& rest) { control_.conclude(rest); }
  Output take() { return output_ + static_cast<std::iter_difference_t<Output>>(count_); }

 private:
  using clock = partition_plan::clock;
  static constexpr std::chrono::nanoseconds front_time{500'000};  // then others may go first

  static task<void> run_rest(scan& all) {
    try {
      all.sums_.resize((all.count_ - all.done_ - 1) / all.tile_items_ + 1);
    } catch (...) {
      all.control_.note_failure();
      co_return;
    }
    co_await rounds(all, 0, std::move(all.before_));
  }

  /// Scans all tiles from `first` on; `before` is the sum of what precedes them, if anything does.
  static task<void> rounds(scan& all, std::size_t first, std::optional<T> before) {
    try {
      const std::size_t end = all.sums_.size();
      scan_round round(first, end);
      if (all.workers_ > 1 && end - first > 2) {
        co_await fork_join(front(all, round, before), reduce(all, round));
      } else {
        co_await front(all, round, before);
      }
      first = round.scanned_end();
      if (first == end || !all.control_.may_go_on()) co_return;
      const std::size_t summed = round.summed_end();
      for (std::size_t tile = first; tile != summed; ++tile) {  // scan/finish: sums become offsets
        T after = std::invoke(all.operation_, *before, std::move(*all.sums_[tile]));
        all.sums_[tile] = std::exchange(before, std::optional<T>(std::move(after)));
      }
      co_await fork_join(rounds(all, summed, std::move(before)), scan_tiles(all, first, summed));
    } catch (...) {
      all.control_.note_failure();
    }
  }

  /// scan/front
  static task<void> front(scan& all, scan_round& round, std::optional<T>& before) {
    try {
      auto began = clock::now();
      std::size_t tile = 0;
      while (all.control_.may_go_on() && round.advance(tile)) {
        all.scan_items(before, all.begin_of(tile), all.end_of(tile));
        if (clock::now() - began < front_time) continue;
        co_await yield();
        began = clock::now();
      }
    } catch (...) {
      all.control_.note_failure();
    }
  }

  static task<void> reduce(scan& all, scan_round& round) {
    if (!round.set_mark(all.workers_)) co_return;
    co_await reducers(all, round, all.workers_ - 1);
  }
  /// So many of them in parallel.
  static task<void> reducers(scan& all, scan_round& round, std::size_t count) {
    try {
      if (count > 1) {
        co_await fork_join(reducers(all, round, count / 2),
                           reducers(all, round, count - count / 2));
        co_return;
      }
      std::size_t tile = 0;
      while (all.control_.may_go_on() && round.take(tile)) all.sum_up(tile);
    } catch (...) {
      all.control_.note_failure();
    }
  }

  static task<void> scan_tiles(scan& all, std::size_t first, std::size_t last) {
    if (first == last || !all.control_.may_go_on()) co_return;
    try {
      if (last - first == 1) {
        all.scan_items(all.sums_[first], all.begin_of(first), all.end_of(first));
      } else {
        const std::size_t middle = first + (last - first) / 2;
        co_await fork_join(scan_tiles(all, first, middle), scan_tiles(all, middle, last));
      }
    } catch (...) {
      all.control_.note_failure();
    }
  }

  std::size_t begin_of(std::size_t tile) const noexcept { return done_ + tile * tile_items_; }
  std::size_t end_of(std::size_t tile) const noexcept {
    return (std::min)(begin_of(tile) + tile_items_, count_);
  }

  void sum_up(std::size_t tile) {
    piece_callable<Operation> operation = operation_;
    const std::size_t from = begin_of(tile);
    T sum(input_.item(from));
    input_.each(from + 1, end_of(tile),
                [&](auto&& item) { sum = std::invoke(operation, std::move(sum), item); });
    sums_[tile].emplace(std::move(sum));
  }

  /// Input may be output: an item is read before its place is written.
  void scan_items(std::optional<T>& before, std::size_t from, std::size_t to) {
    piece_callable<Operation> operation = operation_;
    auto out = output_ + static_cast<std::iter_difference_t<Output>>(from);
    if constexpr (Inclusive) {
      if (!before) {
        before.emplace(input_.item(from++));
        *out = *before;
        ++out;
      }
      T sum = std::move(*before);
      input_.each(from, to, [&](auto&& item) {
        sum = std::invoke(operation, std::move(sum), item);
        *out = sum;
        ++out;
      });
      *before = std::move(sum);
    } else {
      T sum = std::move(*before);
      input_.each(from, to, [&](auto&& item) {
        T after = std::invoke(operation, sum, item);
        *out = std::move(sum);
        ++out;
        sum = std::move(after);
      });
      *before = std::move(sum);
    }
  }

  Input input_;
  Output output_;
  std::optional<T> before_;
  Operation operation_;
  loop_control control_;
  partition_plan plan_;
  std::size_t count_ = 0;
  std::size_t done_ = 0;
  std::size_t tile_items_ = 1;
  std::size_t workers_ = 1;
  // scan/reduce: of a tile; scan/finish: of all that precedes it
  std::vector<std::optional<T>> sums_;
};

}  // namespace tandem::inline v0::detail
