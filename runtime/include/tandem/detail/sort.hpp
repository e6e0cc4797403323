// sort.hpp: the engine of parallel_sort: forked halves, and the shared partition at the top.
// SPDX-License-Identifier: MIT
//
// The grain is measured by sorting the first 32 elements: so many comparisons took so long, so a
// range of so many elements takes some 40 us, and that is a leaf.
//
// A shared partition cuts the range into chunks, which are partitioned on their own. Then the
// border is known, and as many elements lie on its left that belong to the right as the other way
// round; both lists are swapped, piece by piece.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <tandem/detail/partition.hpp>
#include <tandem/detail/quick_sort.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

template <class Compare, class Projection>
class projected_less {
 public:
  projected_less(Compare&& compare, Projection&& projection)
      : compare_(std::move(compare)), projection_(std::move(projection)) {}
  template <class A, class B>
  bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(compare_, std::invoke(projection_, std::forward<A>(a)),
                                         std::invoke(projection_, std::forward<B>(b))));
  }

 private:
  [[no_unique_address]] Compare compare_;
  [[no_unique_address]] Projection projection_;
};

template <class Iterator, class Less>
class sort {
 public:
  using rest_type = void;

  sort(Iterator&& first, Iterator&& last, Less&& less, std::size_t grain)
      : first_(std::move(first)), last_(std::move(last)), less_(std::move(less)), grain_(grain) {}

  bool run_inline() {
    const distance size = last_ - first_;
    if (size <= 0) return true;
    control_.enter();
    workers_ = static_cast<distance>(workers_for_pieces());
    leaf_ = grain_ != 0 ? static_cast<distance>(grain_) : measured_leaf(size);
    if (size > leaf_) return false;
    sorter::sort(first_, last_, less_, sorter::patience(size), true);
    return true;
  }
  task<void> rest() {
    return sort_part(*this, first_, last_, sorter::patience(last_ - first_), true);
  }
  void conclude(outcome<void>& rest) { control_.conclude(rest); }
  void take() const noexcept {}

 private:
  using sorter = quick_sorter<Iterator, Less>;
  using distance = std::iter_difference_t<Iterator>;
  using clock = partition_plan::clock;

  static constexpr distance probe_size = 32;
  static constexpr distance most_leaves_per_worker = 256;
  static constexpr distance shared_chunk =
      1 << 15;  // elements partitioned or swapped by one task, at least
  static constexpr distance long_partition = 1 << 24;  // elements, some 20 ms

  /// Elements that one task sorts in about two leaf times.
  distance measured_leaf(distance size) {
    const distance probed = (std::min)(size, probe_size);
    std::size_t count = 1;
    const auto counting = [&](auto&& a, auto&& b) {
      ++count;
      return less_(a, b);
    };
    const auto began = clock::now();
    quick_sorter<Iterator, decltype(counting)>::insertion_sort(first_, first_ + probed, counting);
    const std::chrono::nanoseconds taken = clock::now() - began;
    const std::size_t comparisons =
        partition_plan::fitting(2 * partition_plan::leaf_time, count, taken);
    // About log2(n) comparisons an element.
    const auto fitting =
        static_cast<distance>(comparisons / static_cast<std::size_t>(std::bit_width(comparisons)));
    return (std::max)({fitting, size / (workers_ * most_leaves_per_worker), probed});
  }

  static task<void> sort_part(sort& all, Iterator first, Iterator last, int bad_allowed,
                              bool leftmost) {
    try {
      while (all.control_.may_go_on()) {
        const distance size = last - first;
        if (size <= all.leaf_ || size < sorter::insertion_limit) {
          sorter::sort(first, last, all.less_, bad_allowed, leftmost);
          co_return;
        }
        sorter::move_pivot_to_front(first, last, all.less_);
        if (!leftmost && !all.less_(*(first - 1), *first)) {
          first = sorter::partition_left(first, last, all.less_) + 1;
          continue;
        }
        Iterator middle = first;
        if (all.is_worth_sharing(size)) {
          middle = co_await shared_partition(all, first, last);
          if (!all.control_.may_go_on()) co_return;
        } else {
          middle = sorter::partition_right(first, last, all.less_).first;
        }
        if (sorter::is_bad_split(first, middle, last)) {
          if (--bad_allowed <= 0) {
            sorter::heap_sort(first, last, all.less_);
            co_return;
          }
          sorter::break_patterns(first, middle, last);
        }
        co_await fork_join(sort_part(all, first, middle, bad_allowed, leftmost),
                           sort_part(all, middle + 1, last, bad_allowed, false));
        co_return;
      }
    } catch (...) {
      all.control_.note_failure();
    }
  }

  /// While there are fewer parts than workers; and where one task would hold a worker for long.
  bool is_worth_sharing(distance size) const noexcept {
    if (size > long_partition) return true;
    return workers_ > 1 && size > (last_ - first_) / workers_ && size >= 8 * shared_chunk;
  }

  // The shared partition.

  /// A chunk, and where its own border lies, counted from the start of the part.
  struct chunk {
    distance first;
    distance middle;
    distance last;
  };
  /// Elements [first, last) of the part lie on the wrong side; `before` others precede them in the
  /// list.
  struct misplaced {
    distance first;
    distance last;
    distance before;
  };
  struct shared_part {
    Iterator first;  // the pivot; chunks begin behind it
    std::vector<chunk> chunks;
    std::vector<misplaced> go_right;
    std::vector<misplaced> go_left;
  };

  /// The pivot stands in front. @returns where it stands then
  static task<Iterator> shared_partition(sort& all, Iterator first, Iterator last) {
    shared_part part{first, {}, {}, {}};
    const distance size = last - first;
    const distance count = (std::max)((std::min)(4 * all.workers_, (size - 1) / shared_chunk),
                                      (size - 1) / (long_partition / 16));
    for (distance i = 0; i != count; ++i) {
      const distance begin = 1 + (size - 1) / count * i;
      part.chunks.push_back(
          {begin, begin, i + 1 == count ? size : 1 + (size - 1) / count * (i + 1)});
    }
    co_await partition_chunks(all, part, 0, count);
    if (!all.control_.may_go_on()) co_return first;
    distance border = 1;
    for (const chunk& each : part.chunks) border += each.middle - each.first;
    for (const chunk& each : part.chunks) {
      append(part.go_right, each.middle, (std::min)(each.last, border));
      append(part.go_left, (std::max)(each.first, border), each.middle);
    }
    const distance swaps = part.go_right.empty() ? 0 : end_of(part.go_right.back());
    co_await swap_misplaced(all, part, 0, swaps);
    if (border != 1) std::ranges::iter_swap(first, first + (border - 1));
    co_return first + (border - 1);
  }

  static task<void> partition_chunks(sort& all, shared_part& part, distance from, distance to) {
    if (!all.control_.may_go_on()) co_return;
    try {
      if (to - from > 1) {
        const distance middle = from + (to - from) / 2;
        co_await fork_join(partition_chunks(all, part, from, middle),
                           partition_chunks(all, part, middle, to));
        co_return;
      }
      chunk& mine = part.chunks[static_cast<std::size_t>(from)];
      const Iterator begin = part.first;
      mine.middle = sorter::border(begin, begin + mine.first, begin + mine.last, all.less_) - begin;
    } catch (...) {
      all.control_.note_failure();
    }
  }

  static distance end_of(const misplaced& last) noexcept {
    return last.before + (last.last - last.first);
  }
  static void append(std::vector<misplaced>& list, distance first, distance last) {
    if (first >= last) return;
    list.push_back({first, last, list.empty() ? 0 : end_of(list.back())});
  }

  /// Swaps number `from` to `to` of one list with those of the other. Always done to the end: half
  /// a partition would still be a permutation, but swaps are cheap and cannot fail.
  static task<void> swap_misplaced(sort& all, shared_part& part, distance from, distance to) {
    if (to - from > shared_chunk) {
      const distance middle = from + (to - from) / 2;
      co_await fork_join(swap_misplaced(all, part, from, middle),
                         swap_misplaced(all, part, middle, to));
      co_return;
    }
    const misplaced* right = holding(part.go_right, from);
    const misplaced* left = holding(part.go_left, from);
    while (from != to) {
      const distance count = (std::min)({to, end_of(*right), end_of(*left)}) - from;
      const Iterator one = part.first + (right->first + (from - right->before));
      std::swap_ranges(one, one + count, part.first + (left->first + (from - left->before)));
      from += count;
      if (from == end_of(*right)) ++right;
      if (from == end_of(*left)) ++left;
    }
  }
  /// The entry of the list that holds number `index`; any if there is none.
  static const misplaced* holding(const std::vector<misplaced>& list, distance index) noexcept {
    const auto at = std::upper_bound(
        list.begin(), list.end(), index,
        [](distance wanted, const misplaced& each) { return wanted < end_of(each); });
    return list.data() + (at - list.begin());
  }

  Iterator first_;
  Iterator last_;
  Less less_;
  std::size_t grain_;
  loop_control control_;
  distance leaf_ = 1;
  distance workers_ = 1;
};

}  // namespace tandem::inline v0::detail
