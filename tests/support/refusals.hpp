// refusals.hpp: the n-th of what a program asks the system for is refused, once: for n = 1, 2, ...
// SPDX-License-Identifier: MIT
//
// refused_memory.cpp asks at every allocation, refused_threads.cpp at every thread: an executable
// that links tandem_test_refusals has both. A test calls for_each_refusal() with what a program does
// from its start to its end; whatever is refused has to arrive as an exception, or as an error, at
// somebody, and everything has to end. For a run that ends otherwise (by std::terminate, too, or
// because it hangs) the number is printed, and from where it was asked for.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>

namespace tandem::test {

/// Of whom something is refused.
class asker {
 public:
  /// The thread that arms.
  static asker caller() noexcept { return asker(kind::caller, ""); }
  /// Every thread.
  static asker anyone() noexcept { return asker(kind::anyone, ""); }
  /// All other threads whose names begin so, as the system keeps them (15 characters).
  static asker threads(const char* prefix) noexcept { return asker(kind::others, prefix); }

  /// @returns  whether the calling thread is meant
  bool is_this_thread() const noexcept;

 private:
  friend class refusals;
  enum class kind { caller, anyone, others };
  constexpr asker(kind which, const char* prefix) noexcept : which_(which), prefix_(prefix) {}

  kind which_;
  const char* prefix_;
};

/// What can be refused: one object for each kind of request.
class refusals {
 public:
  constexpr explicit refusals(const char* what) noexcept : what_(what) {}

  /// The n-th request from now on is refused, and those after it are granted; 0: all are granted,
  /// and counted. The calling thread is asker::caller().
  void arm(unsigned long nth, asker whose) noexcept;
  void disarm() noexcept;
  /// Requests by those that were meant, since arm().
  unsigned long seen() const noexcept { return seen_.load(std::memory_order_relaxed); }
  bool has_refused() const noexcept { return refused_.load(std::memory_order_acquire); }
  /// The number, and the stack of whoever asked. Allocates nothing.
  void report() const noexcept;

  /// By who serves the requests. @returns whether this one is refused
  bool refuse() noexcept { return armed_.load(std::memory_order_relaxed) && refuse_armed(); }

 private:
  bool refuse_armed() noexcept;
  bool judge() noexcept;

  const char* const what_;
  std::atomic<bool> armed_{false};
  std::atomic<int> judging_{0};  // threads that have seen it armed, and are not done with that
  std::atomic<bool> refused_{false};
  std::atomic<unsigned long> seen_{0};
  unsigned long nth_ = 0;  // these are written while nothing is armed
  asker whose_{asker::kind::anyone, ""};
  static constexpr int most_frames = 40;
  void* stack_[most_frames] = {};
  int frames_ = 0;  // published by refused_
};

/// Allocations: malloc and its family, on Windows as far as code of the executable asks for them;
/// with a sanitizer malloc and operator new, likewise.
extern refusals allocations;
/// By who serves them: whether this one is refused, of which errno tells.
inline bool refused_memory() noexcept {
  if (!allocations.refuse()) [[likely]]
    return false;
  errno = ENOMEM;
  return true;
}
/// Threads: pthread_create answers EAGAIN.
extern refusals new_threads;

/// While it lives whatever the calling thread asks for is granted, and not counted.
class granted {
 public:
  granted() noexcept;
  ~granted();
  granted(const granted&) = delete;
  granted& operator=(const granted&) = delete;

 private:
  const std::uintptr_t before_;
};

/// While it lives the n-th request is refused.
class refused {
 public:
  refused(refusals& what, unsigned long nth, asker whose = asker::caller()) noexcept : what_(what) {
    what.arm(nth, whose);
  }
  ~refused() { what_.disarm(); }
  refused(const refused&) = delete;
  refused& operator=(const refused&) = delete;

 private:
  refusals& what_;
};

/// Runs `body` again and again: the first request is refused, then the second, and so on until
/// nothing was refused any more. If that would take longer than stress_time(0.7 s), some are chosen,
/// by a seed. `body` begins and ends all that it is about, and may throw std::bad_alloc and
/// std::system_error; anything else that it throws, and every failed expectation, ends the loop.
void for_each_refusal(refusals& what, asker whose, const std::function<void()>& body);

}  // namespace tandem::test
