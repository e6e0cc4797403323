// fold.hpp: the engine of parallel_for and parallel_reduce: pieces of a range, joined in order.
// SPDX-License-Identifier: MIT
//
// A Work says what a piece does; everything lives in the awaiter, and pieces refer to it. It has
//   partial                  the sum of a piece; default-constructed: of no items
//   awaits                   whether items are tasks
//   size()
//   run(partial&, from, to)  appends items                        (unless awaits)
//   start(at)                the task of an item                  (if awaits)
//   add(partial&, value)     appends what that task has yielded   (if awaits, and not void)
//   join(partial&, partial&&)
//   take(partial&&)          the result
// Pieces that are skipped after a failure or a stop yield empty partials, and take() is not
// reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <tandem/detail/partition.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

template <class Work>
class fold;

/// Items [first, last), in leaves of `leaf`.
template <class Work>
task<typename Work::partial> fold_piece(fold<Work>& all, std::size_t first, std::size_t last,
                                        std::size_t leaf);

template <class Work>
class fold {
 public:
  using partial = typename Work::partial;
  using rest_type = partial;

  fold(Work&& work, std::size_t grain)
      // An item that may suspend is a piece of its own, so that all of them can wait at once.
      : work_(std::move(work)), plan_(Work::awaits && grain == 0 ? 1 : grain) {}

  /// @returns  whether that was all
  bool run_inline() {
    if (work_.size() == 0) return true;
    control_.enter();
    if constexpr (!Work::awaits) {
      done_ = plan_.begin(work_.size(),
                          [this](std::size_t from, std::size_t to) { work_.run(sum_, from, to); });
    }
    return done_ == work_.size();
  }
  task<partial> rest() { return fold_piece<Work>(*this, done_, work_.size(), plan_.leaf()); }
  void conclude(outcome<partial>& rest) {
    control_.conclude(rest);
    work_.join(sum_, rest.get());
  }
  decltype(auto) take() { return work_.take(std::move(sum_)); }

  loop_control& control() noexcept { return control_; }
  Work& work() noexcept { return work_; }

  /// Runs a leaf until it is done or overdue (grain/overdue). @returns where it got to
  std::size_t run_leaf(partial& sum, std::size_t first, std::size_t last, std::size_t& leaf) {
    if (!plan_.timed()) {
      work_.run(sum, first, last);
      return last;
    }
    const auto began = partition_plan::clock::now();
    auto looked = began;
    const std::size_t begin = first;
    // An eighth of the leaf, at most: costly items may lie further on, however cheap the measured
    // ones.
    const std::size_t most = (last - first) / 8 + 1;
    std::size_t step = (std::min)(plan_.step(), most);
    while (true) {
      const std::size_t to = last - first > step ? first + step : last;
      work_.run(sum, first, to);
      first = to;
      if (first == last || !control_.may_go_on()) return last;
      const auto now = partition_plan::clock::now();
      const std::chrono::nanoseconds taken = now - began;
      if (taken > 2 * partition_plan::leaf_time && last - first > 1) {
        leaf = (std::min)(partition_plan::fitting(partition_plan::leaf_time, first - begin, taken),
                          (last - first + 1) / 2);
        return first;
      }
      if (now - looked < partition_plan::look_time) step = (std::min)(step * 4, most);
      looked = now;
    }
  }

 private:
  Work work_;
  loop_control control_;
  partition_plan plan_;
  std::size_t done_ = 0;
  partial sum_{};
};

template <class Work>
task<typename Work::partial> fold_piece(fold<Work>& all, std::size_t first, std::size_t last,
                                        std::size_t leaf) {
  typename Work::partial sum{};
  if (!all.control().may_go_on()) co_return sum;
  try {
    if (last - first <= leaf) {
      if constexpr (Work::awaits) {
        for (; first != last && all.control().may_go_on(); ++first) {
          if constexpr (Work::yields_values) {
            all.work().add(sum, co_await all.work().start(first));
          } else {
            co_await all.work().start(first);
          }
        }
        co_return sum;
      } else {
        first = all.run_leaf(sum, first, last, leaf);
      }
    }
    if (first != last) {
      const std::size_t middle = partition_plan::middle(first, last, leaf);
      auto [left, right] = co_await fork_join(fold_piece<Work>(all, first, middle, leaf),
                                              fold_piece<Work>(all, middle, last, leaf));
      all.work().join(sum, std::move(left));
      all.work().join(sum, std::move(right));
    }
  } catch (...) {
    all.control().note_failure();
  }
  co_return sum;
}

}  // namespace tandem::inline v0::detail
