// quick_sort.hpp: the serial parts of parallel_sort: pivot, partition, small and bad cases.
// SPDX-License-Identifier: MIT
//
// A pattern-defeating quicksort: blocks of comparisons without branches where elements are cheap to
// copy (Edelkamp and Weiss, "BlockQuicksort", ESA 2016); many equal elements cost one pass; a bad
// pivot is answered by swapping elements about, several by a heap sort; sorted input by an
// insertion sort (Peters, "Pattern-defeating Quicksort", arXiv:2106.05123). Written anew, since
// here a comparison may throw: no element is out of the range while one runs, or a guard puts it
// back.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

template <class Iterator, class Less>
class quick_sorter {
 public:
  using value = std::iter_value_t<Iterator>;
  using distance = std::iter_difference_t<Iterator>;

  static constexpr distance insertion_limit = 24;
  static constexpr distance ninther_limit = 128;
  /// Comparing and copying cost no more than a mispredicted branch.
  static constexpr bool branchless = std::is_trivially_copyable_v<value> && sizeof(value) <= 16;

  /// How many bad pivots are put up with.
  static int patience(distance size) noexcept {
    return static_cast<int>(std::bit_width(static_cast<std::size_t>(size)));
  }

  /// @param leftmost  nothing precedes `first`; else its predecessor is not greater than any
  ///                  element
  static void sort(Iterator first, Iterator last, const Less& less, int bad_allowed,
                   bool leftmost) {
    while (true) {
      const distance size = last - first;
      if (size < insertion_limit) {
        insertion_sort(first, last, less);
        return;
      }
      move_pivot_to_front(first, last, less);
      if (!leftmost && !less(*(first - 1), *first)) {
        first = partition_left(first, last, less) + 1;
        continue;
      }
      const auto [middle, untouched] = partition_right(first, last, less);
      if (is_bad_split(first, middle, last)) {
        if (--bad_allowed <= 0) {
          heap_sort(first, last, less);
          return;
        }
        break_patterns(first, middle, last);
      } else if (untouched && nearly_sorted(first, middle, less) &&
                 nearly_sorted(middle + 1, last, less)) {
        return;
      }
      // The smaller part by recursion, the larger one by the loop: O(log n) of stack.
      if (middle - first < last - middle) {
        sort(first, middle, less, bad_allowed, leftmost);
        first = middle + 1;
        leftmost = false;
      } else {
        sort(middle + 1, last, less, bad_allowed, false);
        last = middle;
      }
    }
  }

  static bool is_bad_split(Iterator first, Iterator middle, Iterator last) noexcept {
    const distance eighth = (last - first) / 8;
    return middle - first < eighth || last - middle - 1 < eighth;
  }

  /// The median of three or of nine elements.
  static void move_pivot_to_front(Iterator first, Iterator last, const Less& less) {
    const distance size = last - first;
    const Iterator middle = first + size / 2;
    if (size > ninther_limit) {
      sort_three(first, middle, last - 1, less);
      sort_three(first + 1, middle - 1, last - 2, less);
      sort_three(first + 2, middle + 1, last - 3, less);
      sort_three(middle - 1, middle, middle + 1, less);
      std::ranges::iter_swap(first, middle);
    } else {
      sort_three(middle, first, last - 1, less);
    }
  }

  /// Elements less than the pivot, which stands in front, go before it, the others behind it.
  /// @returns where it stands then, and whether no element had to be moved
  static std::pair<Iterator, bool> partition_right(Iterator first, Iterator last,
                                                   const Less& less) {
    const auto [middle, untouched] = split_by(first, first + 1, last, less);
    const Iterator pivot_at = middle - 1;
    if (pivot_at != first) std::ranges::iter_swap(first, pivot_at);
    return {pivot_at, untouched};
  }

  /// Partitions [first, last) by a pivot that lies elsewhere and stays there. @returns the border
  static Iterator border(Iterator pivot, Iterator first, Iterator last, const Less& less) {
    return split_by(pivot, first, last, less).first;
  }

  /// For a pivot that is not greater than any element: those equal to it go first.
  /// @returns the last of them
  static Iterator partition_left(Iterator first, Iterator last, const Less& less) {
    const Iterator middle =
        split_plain(first + 1, last, [&](auto&& each) { return !less(*first, each); }).first;
    if (middle - 1 != first) std::ranges::iter_swap(first, middle - 1);
    return middle - 1;
  }

  static void insertion_sort(Iterator first, Iterator last, const Less& less) {
    if (first == last) return;
    for (Iterator i = first + 1; i != last; ++i) insert(first, i, less);
  }

  static void heap_sort(Iterator first, Iterator last, const Less& less) {
    const distance size = last - first;
    for (distance at = size / 2; at-- > 0;) sift_down(first, at, size, less);
    for (distance end = size - 1; end > 0; --end) {
      std::ranges::iter_swap(first, first + end);
      sift_down(first, 0, end, less);
    }
  }

  /// Swaps some elements where a bad pivot came from, so that no pattern keeps on making them.
  static void break_patterns(Iterator first, Iterator middle, Iterator last) {
    scatter(first, middle);
    scatter(middle + 1, last);
  }

 private:
  static constexpr std::size_t block = 64;

  /// Puts its element back into the gap, however the comparing ends.
  struct gap {
    value element;
    Iterator at;
    gap(value&& e, Iterator where) : element(std::move(e)), at(where) {}
    gap(const gap&) = delete;
    gap& operator=(const gap&) = delete;
    ~gap() { *at = std::move(element); }
  };

  static void insert(Iterator first, Iterator i, const Less& less) {
    if (!less(*i, *(i - 1))) return;
    gap moving(std::ranges::iter_move(i), i);
    do {
      *moving.at = std::ranges::iter_move(moving.at - 1);
      --moving.at;
    } while (moving.at != first && less(moving.element, *(moving.at - 1)));
  }

  /// Insertion sort that gives up after a few moves.
  static bool nearly_sorted(Iterator first, Iterator last, const Less& less) {
    distance moves = 0;
    if (first == last) return true;
    for (Iterator i = first + 1; i != last; ++i) {
      if (!less(*i, *(i - 1))) continue;
      gap moving(std::ranges::iter_move(i), i);
      do {
        *moving.at = std::ranges::iter_move(moving.at - 1);
        --moving.at;
        ++moves;
      } while (moving.at != first && less(moving.element, *(moving.at - 1)));
      if (moves > 8) return false;
    }
    return true;
  }

  static void sort_three(Iterator a, Iterator b, Iterator c, const Less& less) {
    if (less(*b, *a)) std::ranges::iter_swap(a, b);
    if (less(*c, *b)) {
      std::ranges::iter_swap(b, c);
      if (less(*b, *a)) std::ranges::iter_swap(a, b);
    }
  }

  static void sift_down(Iterator first, distance at, distance size, const Less& less) {
    while (true) {
      distance child = 2 * at + 1;
      if (child >= size) return;
      if (child + 1 < size && less(first[child], first[child + 1])) ++child;
      if (!less(first[at], first[child])) return;
      std::ranges::iter_swap(first + at, first + child);
      at = child;
    }
  }

  static void scatter(Iterator first, Iterator last) {
    const distance size = last - first;
    if (size < insertion_limit) return;
    const distance quarter = size / 4;
    std::ranges::iter_swap(first, first + quarter);
    std::ranges::iter_swap(last - 1, last - quarter);
    if (size <= ninther_limit) return;
    std::ranges::iter_swap(first + 1, first + (quarter + 1));
    std::ranges::iter_swap(first + 2, first + (quarter + 2));
    std::ranges::iter_swap(last - 2, last - (quarter + 1));
    std::ranges::iter_swap(last - 3, last - (quarter + 2));
  }

  static std::pair<Iterator, bool> split_by(Iterator pivot, Iterator first, Iterator last,
                                            const Less& less) {
    if constexpr (branchless) {
      const value by = *pivot;  // a copy, which stays in registers
      return split_blocks(first, last, [&](const value& each) { return less(each, by); });
    } else {
      return split_plain(first, last, [&](auto&& each) { return less(each, *pivot); });
    }
  }

  /// Elements of which `goes_left` is true go before the others.
  /// @returns the first of those, and whether all were in place
  template <class GoesLeft>
  static std::pair<Iterator, bool> split_plain(Iterator first, Iterator last, GoesLeft goes_left) {
    bool untouched = true;
    while (true) {
      while (first != last && goes_left(*first)) ++first;
      while (first != last && !goes_left(*(last - 1))) --last;
      if (first == last) return {first, untouched};
      untouched = false;
      --last;
      std::ranges::iter_swap(first, last);
      ++first;
    }
  }

  /// Notes what is on the wrong side of a block at either end by offsets, then swaps pairs of them.
  template <class GoesLeft>
  static std::pair<Iterator, bool> split_blocks(Iterator first, Iterator last, GoesLeft goes_left) {
    // What is in place at both ends is skipped: sorted input is recognised by that.
    while (first != last && goes_left(*first)) ++first;
    while (first != last && !goes_left(*(last - 1))) --last;
    if (first == last) return {first, true};

    std::array<unsigned char, block> left_offsets;   // of those that go right, from left_base
    std::array<unsigned char, block> right_offsets;  // of those that go left, back from right_base
    Iterator left_base = first;
    Iterator right_base = last;
    std::size_t left_count = 0, left_start = 0;
    std::size_t right_count = 0, right_start = 0;
    while (first != last) {
      // One block is filled from either end where none is pending; the last ones share what is
      // left.
      const auto unknown = static_cast<std::size_t>(last - first);
      const std::size_t for_left = left_count == 0 ? (right_count == 0 ? unknown / 2 : unknown) : 0;
      const std::size_t for_right = right_count == 0 ? unknown - for_left : 0;
      const std::size_t left_size = (std::min)(for_left, block);
      const std::size_t right_size = (std::min)(for_right, block);
      if (left_count == 0) {
        left_start = 0;
        left_base = first;
        for (std::size_t i = 0; i != left_size; ++i) {
          left_offsets[left_count] = static_cast<unsigned char>(i);
          left_count += static_cast<std::size_t>(!goes_left(*first));
          ++first;
        }
      }
      if (right_count == 0) {
        right_start = 0;
        right_base = last;
        for (std::size_t i = 0; i != right_size; ++i) {
          --last;
          right_offsets[right_count] = static_cast<unsigned char>(i + 1);
          right_count += static_cast<std::size_t>(static_cast<bool>(goes_left(*last)));
        }
      }
      const std::size_t pairs = (std::min)(left_count, right_count);
      for (std::size_t i = 0; i != pairs; ++i) {
        std::ranges::iter_swap(left_base + left_offsets[left_start + i],
                               right_base - right_offsets[right_start + i]);
      }
      left_count -= pairs;
      left_start += pairs;
      right_count -= pairs;
      right_start += pairs;
    }
    // One side may have some left: they go next to the border, the farthest first.
    while (left_count != 0) {
      --left_count;
      --last;
      std::ranges::iter_swap(left_base + left_offsets[left_start + left_count], last);
      first = last;
    }
    while (right_count != 0) {
      --right_count;
      std::ranges::iter_swap(right_base - right_offsets[right_start + right_count], first);
      ++first;
    }
    return {first, false};
  }
};

}  // namespace tandem::inline v0::detail
