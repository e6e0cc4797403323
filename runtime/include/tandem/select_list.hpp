// select_list.hpp: a selector whose branches are made at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/selector.hpp>

namespace tandem::inline v0 {

/// The branch of a select_list that was taken.
template <class T>
struct selected_item {
  std::size_t index;  ///< what add() has returned
  T value;
};
template <>
struct selected_item<void> {
  std::size_t index;
};

namespace detail {

template <class Branch>
class branch_list {
 public:
  using result = selected_item<await_result_t<Branch&>>;
  static constexpr bool has_stop = is_of_stop<Branch>;

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
  void add(Branch&& made) { all_.push_back(std::make_unique<entry>(std::move(made))); }
  std::uint32_t try_from(std::uint32_t first) noexcept {
    if constexpr (requires(Branch& b) { b.select_due(); }) {
      entry& due = *all_[first];
      if (is_asked(due.place) && due.branch.select_due()) return no_branch;
    }
    for (std::uint32_t left = size(), at = first; left > 0; --left, ++at) {
      if (at >= size()) at = 0;
      entry& each = *all_[at];
      if (!is_asked(each.place) || !each.branch.select_try()) continue;
      if (std::exchange(each.place.is_armed, false)) each.branch.select_disarm();
      return at;
    }
    return no_branch;
  }
  std::uint32_t stop_branch() noexcept { return try_from(0); }
  std::uint32_t arm(selection& of, std::uint32_t first) noexcept {
    for (std::uint32_t left = size(), at = first; left > 0; --left, ++at) {
      if (at >= size()) at = 0;
      select_place& place = all_[at]->place;
      if (!is_asked(place)) continue;
      prepare(place, of, at);
      if (!all_[at]->branch.select_arm(place)) continue;
      place.is_armed = false;
      return at;
    }
    return no_branch;
  }
  void see_set_aside() noexcept {
    for (const auto& each : all_) {
      if (was_let_go(each->place)) leave(*each);
    }
  }
  void disarm_others(std::uint32_t taken, bool all) noexcept {
    for (std::uint32_t at = 0; at < size(); ++at) {
      select_place& place = all_[at]->place;
      if (at != taken && !leaves_now(place, all || leaves_each_turn<Branch>)) {
        if (place.is_armed) let_pass(all_[at]->branch);
        continue;
      }
      place.is_armed = false;
      if (at != taken) leave(*all_[at]);
    }
  }
  std::exception_ptr failure(std::uint32_t taken) noexcept {
    std::exception_ptr found = failure_of(all_[taken]->branch);
    if (found != nullptr) const after_taking then{all_[taken].get()};
    return found;
  }
  result take(std::uint32_t taken) {
    entry& of = *all_[taken];
    const after_taking then{&of};
    if constexpr (std::is_void_v<await_result_t<Branch&>>) {
      of.branch.await_resume();
      return result{taken};
    } else {
      return result{taken, of.branch.await_resume()};
    }
  }
  void remove(std::uint32_t at) noexcept {
    select_place& place = all_[at]->place;
    if (std::exchange(place.is_armed, false)) leave(*all_[at]);
    place.is_over = true;
  }
  bool is_over() const noexcept {
    for (const auto& each : all_) {
      if (!each->place.is_over) return false;
    }
    return true;
  }

 private:
  struct entry {
    explicit entry(Branch&& made) : branch(std::move(made)) {}
    Branch branch;
    select_place place;
  };
  struct after_taking {
    ~after_taking() {
      what->branch.select_reset();
      what->place.is_over = is_once<Branch>;
    }
    entry* what;
  };
  static void leave(entry& of) noexcept {
    of.branch.select_disarm();
    of.branch.select_reset();
  }

  std::vector<std::unique_ptr<entry>> all_;  // they stay where they are
};

}  // namespace detail

/// A selector over any number of branches of one kind.
///
///     tandem::select_list<tandem::receive_awaiter<int>> inputs;
///     for (auto& each : channels) inputs.add(each.receive());
///     auto hit = co_await inputs.next();    // hit.index, hit.value
///
/// @tparam Awaiter  of the branches: what `c.receive()` returns, or `e.wait()`
/// @thread_safety   one task at a time; it stays where it is
template <class Awaiter>
class [[nodiscard]] select_list {
  static_assert((detail::check_branch<Awaiter>(), true));
  using branches = detail::branch_list<Awaiter>;

 public:
  select_list() noexcept = default;
  select_list(const select_list&) = delete;
  select_list& operator=(const select_list&) = delete;
  /// Not while somebody waits.
  ~select_list() { branches_.disarm_others(detail::no_branch, true); }

  /// Between two turns.
  ///
  /// @param awaitable  an Awaiter, or what co_await makes one of: a join_handle, by its name
  /// @returns          its index
  /// @throws           std::bad_alloc
  template <class A>
  std::size_t add(A&& awaitable) {
    constexpr bool fits = std::same_as<detail::branch_of_t<A>, Awaiter>;
    static_assert(fits,
                  "add() of a select_list takes branches of its one type: what sends a copy, or "
                  "returns a guard, is another one than what does not");
    detail::check_kept<A>();
    if constexpr (fits) branches_.add(Awaiter(detail::make_branch(std::forward<A>(awaitable))));
    return branches_.size() - 1;
  }
  /// Between two turns. The indices of the others stay.
  void remove(std::size_t index) noexcept {
    TANDEM_ASSERT(index < branches_.size(),
                  "a branch was removed that a select_list does not have");
    branches_.remove(static_cast<std::uint32_t>(index));
  }
  /// Those that were added, removed ones included.
  std::size_t size() const noexcept { return branches_.size(); }
  /// Whether none is left.
  bool is_over() const noexcept { return branches_.is_over(); }

  /// As selector::next(). At least one branch has to be left. Linear in the number of branches.
  ///
  /// @returns  selected_item: the index of the one that was taken, and its value
  detail::selector_awaiter<branches> next() noexcept {
    return detail::selector_awaiter<branches>(branches_, of_, next_);
  }

 private:
  branches branches_;
  detail::selection of_;
  std::uint32_t next_ = 0;
};

}  // namespace tandem::inline v0
