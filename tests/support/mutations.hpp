// mutations.hpp: sets of atomics with a planted bug each, for tests of the tests.
// SPDX-License-Identifier: MIT
//
// Given to a template as its `Atomics`, each makes another program of it than the one its author
// wrote. explore.hpp has to find that out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "explore.hpp"

namespace tandem::test {

/// No store is a barrier: seq_cst ones are release.
struct without_barriers {
  template <class T>
  struct atomic : explored_atomic<T> {
    using explored_atomic<T>::explored_atomic;
    void store(T value, std::memory_order order) noexcept {
      explored_atomic<T>::store(
          value, order == std::memory_order_seq_cst ? std::memory_order_release : order);
    }
  };
};

/// Every compare-exchange stores, whatever it finds.
struct with_blind_exchanges {
  template <class T>
  struct atomic : explored_atomic<T> {
    using explored_atomic<T>::explored_atomic;
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order,
                                 std::memory_order = std::memory_order_relaxed) noexcept {
      (void)expected;
      (void)this->exchange(desired, order);
      return true;
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
      return compare_exchange_strong(expected, desired, success, failure);
    }
  };
};

/// An exchange is a load and a store.
struct with_torn_exchanges {
  template <class T>
  struct atomic : explored_atomic<T> {
    using explored_atomic<T>::explored_atomic;
    T exchange(T value, std::memory_order) noexcept {
      const T old = this->load(std::memory_order_acquire);
      this->store(value, std::memory_order_release);
      return old;
    }
  };
};

/// Whoever has won a compare-exchange of one number does not load again the number that it loaded
/// last before: the next load of it yields the old value. (Numbers of type `Number` only.)
template <class Number>
struct with_stale_numbers {
  template <class T>
  class atomic : public explored_atomic<T> {
   public:
    using explored_atomic<T>::explored_atomic;
    ~atomic() {  // the next execution's words may have the same addresses
      for (memory& each : of_all_threads()) {
        if (each.object == this) each = memory();
      }
    }
    T load(std::memory_order order) const noexcept {
      const T value = explored_atomic<T>::load(order);
      if constexpr (std::is_same_v<T, Number>) {
        memory& mine = of_this_thread();
        if (std::exchange(mine.is_stale, false) && mine.object == this) return mine.value;
        if (order == std::memory_order_seq_cst) mine = {this, value, false};
      }
      return value;
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order) noexcept {
      const bool won = explored_atomic<T>::compare_exchange_strong(expected, desired, order);
      of_this_thread().is_stale = won && of_this_thread().object != this;
      return won;
    }

   private:
    struct memory {
      const void* object = nullptr;
      T value{};
      bool is_stale = false;
    };
    static std::array<memory, most_threads + 1>& of_all_threads() noexcept {
      static std::array<memory, most_threads + 1> all;
      return all;
    }
    static memory& of_this_thread() noexcept {
      return of_all_threads()[schedule::current_thread()];
    }
  };
};

/// Nothing orders anything but itself.
struct without_orders {
  template <class T>
  struct atomic : explored_atomic<T> {
    using explored_atomic<T>::explored_atomic;
    static constexpr std::memory_order relaxed = std::memory_order_relaxed;
    T load(std::memory_order) const noexcept { return explored_atomic<T>::load(relaxed); }
    void store(T value, std::memory_order) noexcept { explored_atomic<T>::store(value, relaxed); }
    T exchange(T value, std::memory_order) noexcept {
      return explored_atomic<T>::exchange(value, relaxed);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order,
                                 std::memory_order = relaxed) noexcept {
      return explored_atomic<T>::compare_exchange_strong(expected, desired, relaxed);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order,
                               std::memory_order) noexcept {
      return explored_atomic<T>::compare_exchange_weak(expected, desired, relaxed, relaxed);
    }
  };
};

/// Pointers to other atomics are published before what they point to.
struct with_early_pointers {
  template <class T>
  struct atomic : explored_atomic<T> {
    using explored_atomic<T>::explored_atomic;
    void store(T value, std::memory_order order) noexcept {
      explored_atomic<T>::store(value, std::is_pointer_v<T> ? std::memory_order_relaxed : order);
    }
  };
};

}  // namespace tandem::test
