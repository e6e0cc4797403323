// select_branches.hpp: the branches of a select: tried, armed, disarmed, taken.
// SPDX-License-Identifier: MIT
//
// Protocol selecting, runtime/src/select/README.md. All by the task that selects.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/detail/selection.hpp>
#include <tandem/selected.hpp>

namespace tandem::inline v0::detail {

/// An awaiter that may be a branch of a select. None of these throws:
///
///     bool select_try()       takes what it waits for, if that is there; else nothing has happened
///     bool select_arm(place)  the same, or enters the source's list of waits (leaf::join): whoever
///                             takes it out of there claims it first. @returns whether it was taken
///     void select_disarm()    armed, and not taken: out of the list again
///     void select_reset()     taken or disarmed: as it was made
///
/// `bool select_due()`, if there is such a function: what it waits for seems to be there, but only a
/// wait can take it. Asked of the first in turn alone, which is then armed before the others are
/// tried.
///
/// `void select_let_pass()`, if there is such a function: it stays in its list while the task is away,
/// and those behind it that need not wait for it are let go.
///
/// `using select_leaves = void;`: it does not stay armed between two turns of a selector.
///
/// `using select_once = void;`: taken once, there is no second time (a selector leaves it out then).
template <class Awaiter>
concept select_branch = requires(Awaiter& a, select_place& place) {
  typename Awaiter::tandem_awaiter;
  { a.select_try() } -> std::same_as<bool>;
  { a.select_arm(place) } -> std::same_as<bool>;
  a.select_disarm();
  a.select_reset();
};

/// The branch that is taken where no other one is ready.
class otherwise_branch {
 public:
  using tandem_awaiter = void;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<> /*never*/) const noexcept {}
  void await_resume() const noexcept {}
};

template <class Awaiter>
inline constexpr bool is_otherwise = std::is_same_v<Awaiter, otherwise_branch>;
template <class Awaiter>
inline constexpr bool is_once = requires { typename Awaiter::select_once; };
/// stopped(): a stop ends the wait as this branch.
template <class Awaiter>
inline constexpr bool is_of_stop = requires { typename Awaiter::select_of_stop; };

/// It does not stay armed between two turns: a stop is looked for anew, and what else a wait keeps up
/// (a clock that stands still) ends with the turn.
template <class Awaiter>
inline constexpr bool leaves_each_turn =
    is_of_stop<Awaiter> || requires { typename Awaiter::select_leaves; };

/// selecting/let_pass. Of one that stays armed while its task is away.
template <class Branch>
void let_pass(Branch& branch) noexcept {
  if constexpr (requires { branch.select_let_pass(); }) branch.select_let_pass();
}

inline constexpr std::uint32_t no_branch = 0xFFFF'FFFF;

/// After a wait in which `place` was not taken. @returns whether it has to be disarmed
inline bool leaves_now(const select_place& place, bool all) noexcept {
  // Of one that ends later nothing is left in its source.
  return place.is_armed && (all || place.let_go != nullptr);
}

/// Whether it has to be looked at: if not, its source will tell.
inline bool is_asked(const select_place& place) noexcept {
  return !place.is_over && (!place.is_armed || place.ask_again);
}
/// selecting/set_aside. @returns whether it has to leave: its source has let go of it
inline bool was_let_go(select_place& place) noexcept {
  if (!place.is_armed || !place.set_aside.load(std::memory_order_relaxed)) return false;
  place.ask_again = place.let_go == nullptr;
  place.is_armed = place.ask_again;
  if (place.ask_again) return false;
  wait_for_end(place);
  place.is_out = false;
  return true;
}
/// Before it is armed.
inline void prepare(select_place& place, selection& of, std::uint32_t index) noexcept {
  // Once: somebody may be looking, if it is in its list still (selecting/set_aside).
  if (place.of == nullptr) {
    place.of = &of;
    place.index = index;
  }
  place.is_armed = true;
  place.ask_again = false;
  place.set_aside.store(false, std::memory_order_relaxed);
  place.has_ended.store(false, std::memory_order_relaxed);  // the source gets it later
}

template <class... Bs>
class branch_tuple {
  using last = std::tuple_element_t<sizeof...(Bs) - 1, std::tuple<Bs...>>;

 public:
  using result = selected<await_result_t<Bs&>...>;
  static constexpr bool has_otherwise = is_otherwise<last>;
  static constexpr bool has_stop = (is_of_stop<Bs> || ...);

  explicit branch_tuple(Bs&&... branches) : branches_(std::move(branches)...) {}
  /// Before the first turn.
  branch_tuple(branch_tuple&& other) : branches_(std::move(other.branches_)) {}
  branch_tuple& operator=(branch_tuple&&) = delete;
  ~branch_tuple() = default;

  /// Without otherwise.
  static constexpr std::uint32_t size() noexcept { return count; }

  /// selecting/try. Those that no source will tell of, from `first` on and round. @returns who was taken
  std::uint32_t try_from(std::uint32_t first) noexcept {
    std::uint32_t taken = no_branch;
    if (any_of([&](auto i) { return i() == first && is_due<i()>(); })) return no_branch;
    const bool any = any_of([&](auto i) { return i() >= first && try_one<i()>(taken); }) ||
                     any_of([&](auto i) { return i() < first && try_one<i()>(taken); });
    return any || !has_otherwise ? taken : count;
  }
  /// selecting/arm. The same, in the same order. @returns who was taken
  std::uint32_t arm(selection& of, std::uint32_t first) noexcept {
    std::uint32_t taken = no_branch;
    (void)(any_of([&](auto i) { return i() >= first && arm_one<i()>(of, taken); }) ||
           any_of([&](auto i) { return i() < first && arm_one<i()>(of, taken); }));
    return taken;
  }
  /// The one that a stop is taken by; none if there is no such one.
  std::uint32_t stop_branch() noexcept {
    std::uint32_t taken = no_branch;
    (void)any_of([&](auto i) {
      if constexpr (is_of_stop<branch<i()>>) return try_one<i()>(taken);
      return false;
    });
    return taken;
  }
  /// selecting/set_aside. They are asked again.
  void see_set_aside() noexcept {
    (void)any_of([&](auto i) {
      select_place& place = places_[i()];
      if (was_let_go(place)) leave<i()>();
      return false;
    });
  }
  /// selecting/go_on. After a wait: those that were not taken; all, or those alone that do not stay
  /// armed.
  void disarm_others(std::uint32_t taken, bool all) noexcept {
    (void)any_of([&](auto i) {
      select_place& place = places_[i()];
      if (i() == taken) {
        place.is_armed = false;
      } else if (leaves_now(place, all || leaves_each_turn<branch<i()>>)) {
        place.is_armed = false;
        leave<i()>();
      } else if (place.is_armed) {
        let_pass(std::get<i()>(branches_));
      }
      return false;
    });
  }

  /// In the place of take(), unless it is null: it has not failed, or take() tells.
  std::exception_ptr failure(std::uint32_t taken) noexcept {
    std::exception_ptr found;
    (void)any_of([&](auto i) {
      if (i() != taken) return false;
      auto& of = std::get<i()>(branches_);
      found = failure_of(of);
      if (found != nullptr) const after_taking<branch<i()>> then{&of, &places_[i()]};
      return true;
    });
    return found;
  }
  /// The value of the one that was taken, which may be asked again afterwards.
  result take(std::uint32_t taken) {
    if constexpr (has_otherwise) {
      if (taken == count) return result(std::in_place_index<count>);
    }
    return take_one<0>(taken);
  }

  /// Another one in the place of a branch, between two turns.
  template <std::size_t I, class B>
  void replace(B&& other) {
    static_assert(std::is_same_v<std::remove_cvref_t<B>, branch<I>>,
                  "replace() of a selector takes a branch of the same type: what sends a copy, or "
                  "returns a guard, is another one than what does not");
    auto& old = std::get<I>(branches_);
    if (std::exchange(places_[I].is_armed, false)) old.select_disarm();
    std::destroy_at(std::addressof(old));
    std::construct_at(std::addressof(old), std::forward<B>(other));
    places_[I].is_over = false;
  }
  bool is_over() const noexcept {
    for (const select_place& place : places_) {
      if (!place.is_over) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t count =
      static_cast<std::uint32_t>(sizeof...(Bs) - (has_otherwise ? 1 : 0));
  template <std::size_t I>
  using branch = std::tuple_element_t<I, std::tuple<Bs...>>;

  template <class F>
  static bool any_of(F f) {
    return any_of(f, std::make_index_sequence<count>());
  }
  template <class F, std::size_t... I>
  static bool any_of(F& f, std::index_sequence<I...> /*all*/) {
    return (f(std::integral_constant<std::uint32_t, static_cast<std::uint32_t>(I)>()) || ...);
  }
  template <std::size_t I>
  bool try_one(std::uint32_t& taken) noexcept {
    select_place& place = places_[I];
    if (!is_asked(place) || !std::get<I>(branches_).select_try()) return false;
    if (std::exchange(place.is_armed, false)) std::get<I>(branches_).select_disarm();
    taken = static_cast<std::uint32_t>(I);
    return true;
  }
  template <std::size_t I>
  bool arm_one(selection& of, std::uint32_t& taken) noexcept {
    select_place& place = places_[I];
    if (!is_asked(place)) return false;
    prepare(place, of, static_cast<std::uint32_t>(I));
    if (!std::get<I>(branches_).select_arm(place)) return false;
    place.is_armed = false;
    taken = static_cast<std::uint32_t>(I);
    return true;
  }
  template <std::size_t I>
  bool is_due() noexcept {
    if constexpr (requires(branch<I>& b) { b.select_due(); }) {
      return is_asked(places_[I]) && std::get<I>(branches_).select_due();
    }
    return false;
  }
  template <std::size_t I>
  void leave() noexcept {
    std::get<I>(branches_).select_disarm();
    std::get<I>(branches_).select_reset();
  }
  template <std::size_t I>
  result take_one(std::uint32_t taken) {
    if constexpr (I + 1 < count) {
      if (taken != I) return take_one<I + 1>(taken);
    }
    const after_taking<branch<I>> then{&std::get<I>(branches_), &places_[I]};
    if constexpr (std::is_void_v<await_result_t<branch<I>&>>) {
      std::get<I>(branches_).await_resume();
      return result(std::in_place_index<I>);
    } else {
      return result(std::in_place_index<I>, std::get<I>(branches_).await_resume());
    }
  }
  template <class B>
  struct after_taking {
    ~after_taking() {
      what->select_reset();
      place->is_over = is_once<B>;
    }
    B* what;
    select_place* place;
  };

  std::tuple<Bs...> branches_;
  std::array<select_place, count == 0 ? 1 : count> places_;
};

}  // namespace tandem::inline v0::detail
