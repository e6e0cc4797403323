// explore.hpp: runs code with atomics under many seeded schedules, and checks its laws in each.
// SPDX-License-Identifier: MIT
//
// The code under test takes its atomics from a policy; `explored_atomics` makes each access a point
// at which the schedule may go on with another logical thread (a fiber: everything runs on one
// thread of the system, so a schedule is a function of its seed and can be repeated).
//
//   schedules  in turn, as the seed says: a uniform walk, a walk that rarely switches, and priorities
//              with few changes (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010)
//   memory     each thread has a store buffer. Stores that are not seq_cst wait in it; its own thread
//              sees them at once, the others when the schedule flushes them. seq_cst stores and all
//              read-modify-writes empty it first. Entries leave in order, but a relaxed store may
//              overtake stores to other words: total store order (x86), and a little weaker
//   order      threads, words and `watched` data carry vector clocks as in the C++ model (release
//              sequences, no fences): access to plain data without happens-before is a broken law
//
// Not modelled, so nothing is proved about it: loads that return old values or overtake each other
// (other than by the buffers), two threads that see the stores of two others in different orders
// (non-multi-copy-atomic machines), relaxed or failed read-modify-writes that leave the buffer as
// it is, atomic_thread_fence, consume, the order of seq_cst accesses among weaker ones. What the
// clocks see of acquire and release is as weak as C++; the rest is as strong as said here.
//
// Laws are found broken by luck, however good: a run without a finding is no proof. Each test of a
// law should stand beside one that breaks the code and expects a finding.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace tandem::test {

inline constexpr std::size_t most_threads = 4;

/// What a thread knows of every thread: it has seen all up to that time.
using vector_clock = std::array<std::uint32_t, most_threads>;

/// One execution of a scenario under one schedule.
///
/// A scenario makes the objects under test, adds threads, calls go() and checks what is left.
/// Outside of go() atomics act at once.
class schedule {
 public:
  schedule(const schedule&) = delete;
  schedule& operator=(const schedule&) = delete;

  /// Adds a logical thread. Its body must not throw, and must end by itself or in wait_until().
  void thread(const char* name, std::function<void()> body);
  /// Once: runs the threads to their ends and empties the buffers.
  /// @returns  false if nobody could go on, or not within the bound on steps: return at once then;
  ///           the bodies stay where they were, and what they held is not destroyed
  bool go();

  /// In a thread: waits until `ready` holds; it may load explored atomics and nothing else.
  void wait_until(const std::function<bool()>& ready);
  /// Anywhere: states a law. The first one that does not hold is the finding.
  void require(bool holds, const char* law);
  /// A number below `bound`, a function of the seed.
  std::uint64_t random(std::uint64_t bound) noexcept;

  /// The thread that runs, in the order of thread(); most_threads outside of go().
  static std::size_t current_thread() noexcept;

  class engine;

 private:
  friend engine;
  explicit schedule(engine& runs) noexcept : engine_(runs) {}
  engine& engine_;
};

struct finding {
  bool broken = false;
  std::string law;
  std::uint64_t seed = 0;        ///< with it as TANDEM_STRESS_SEED it is the first execution's
  std::uint64_t executions = 0;  ///< how many there were
  std::string tail;              ///< the last steps, one a line
};

/// Runs `scenario` under schedules number 0, 1, ... of `seed` until a law is broken, or `enough`
/// (of the number of executions so far) says so.
finding explore(std::uint64_t seed, const std::function<bool(std::uint64_t)>& enough,
                const std::function<void(schedule&)>& scenario);

/// An atomic word of up to 64 bits: what explored_atomic<T> is made of.
class explored_word {
 public:
  explored_word(const explored_word&) = delete;
  explored_word& operator=(const explored_word&) = delete;

 protected:
  enum class look : std::uint8_t { flag, number, address };  // how a schedule prints its values

  explored_word(std::uint64_t bits, look kind) noexcept;
  ~explored_word();

  std::uint64_t load_bits(std::memory_order order) const noexcept;
  void store_bits(std::uint64_t bits, std::memory_order order) noexcept;
  /// A read-modify-write: nobody else goes on between begin and end, if it ends. @returns the old
  /// value
  std::uint64_t begin_change(std::memory_order order) noexcept;
  void end_change(std::uint64_t bits, std::memory_order order) noexcept;
  /// Whether a weak compare-exchange fails for no reason.
  static bool fails_spuriously() noexcept;

 private:
  friend schedule::engine;
  std::uint64_t memory_;
  vector_clock released_{};  // what an acquire load of this value brings
  std::uint32_t number_;     // in the order of construction
  look kind_;
};

/// Has the members of std::atomic<T> that lock-free code of tandem uses.
template <class T>
class explored_atomic : private explored_word {
  static_assert(std::is_pointer_v<T> || std::is_integral_v<T>);
  static constexpr look kind = std::is_pointer_v<T>      ? look::address
                               : std::is_same_v<T, bool> ? look::flag
                                                         : look::number;

 public:
  explored_atomic() noexcept : explored_atomic(T()) {}
  explored_atomic(T value) noexcept : explored_word(to_bits(value), kind) {}  // NOLINT: as std's

  T load(std::memory_order order) const noexcept { return from_bits(load_bits(order)); }
  void store(T value, std::memory_order order) noexcept { store_bits(to_bits(value), order); }

  T exchange(T value, std::memory_order order) noexcept {
    const T old = from_bits(begin_change(order));
    end_change(to_bits(value), order);
    return old;
  }
  T fetch_add(T value, std::memory_order order) noexcept {
    const T old = from_bits(begin_change(order));
    end_change(to_bits(static_cast<T>(old + value)), order);
    return old;
  }
  T fetch_sub(T value, std::memory_order order) noexcept {
    const T old = from_bits(begin_change(order));
    end_change(to_bits(static_cast<T>(old - value)), order);
    return old;
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    return change_if(expected, desired, success, failure, false);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order) noexcept {
    return change_if(expected, desired, order, order_of_failure(order), false);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return change_if(expected, desired, success, failure, fails_spuriously());
  }

  static std::memory_order order_of_failure(std::memory_order success) noexcept {
    if (success == std::memory_order_acq_rel) return std::memory_order_acquire;
    if (success == std::memory_order_release) return std::memory_order_relaxed;
    return success;
  }

 private:
  static std::uint64_t to_bits(T value) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<std::uintptr_t>(value);
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }
  static T from_bits(std::uint64_t bits) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(static_cast<std::uintptr_t>(bits));  // NOLINT
    } else {
      return static_cast<T>(bits);
    }
  }

  bool change_if(T& expected, T desired, std::memory_order success, std::memory_order failure,
                 bool spuriously) noexcept {
    const T old = from_bits(begin_change(failure));
    if (old != expected || spuriously) {
      expected = old;
      return false;
    }
    end_change(to_bits(desired), success);
    return true;
  }
};

/// A policy: the lanes' `Atomics`.
struct explored_atomics {
  template <class T>
  using atomic = explored_atomic<T>;
};

/// The clocks of plain data.
class watched_word {
 protected:
  void note_read() noexcept;
  void note_write() noexcept;

 private:
  friend schedule::engine;
  vector_clock reads_{};
  vector_clock writes_{};
};

/// Plain data: two accesses of which one writes must be ordered by atomics.
template <class T>
class watched : private watched_word {
 public:
  watched() = default;
  explicit watched(T value) : value_(value) {}

  T read() noexcept {
    note_read();
    return value_;
  }
  void write(T value) noexcept {
    note_write();
    value_ = value;
  }

 private:
  T value_{};
};

}  // namespace tandem::test
