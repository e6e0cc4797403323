// listed_thread.hpp: the threads that run tasks, for whoever looks what they do.
// SPDX-License-Identifier: MIT
//
// A list of the process. Entries stand on the stacks of their threads; whoever reads the list holds
// its lock, which a thread needs to leave. Across a fork it is locked, and empty in the child.
#pragma once

#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/own_counter.hpp>

namespace tandem::inline v0 {

class environment;
class runtime;

namespace detail {

struct thread_context;

/// What a thread did when somebody looked.
struct thread_note {
  const tandem::runtime* owner = nullptr;
  const char* role = "";             ///< "worker", "completion thread"; a literal
  int number = -1;                   ///< within its role; -1: it has none
  std::uint64_t thread_id = 0;       ///< of the system
  const environment* env = nullptr;  ///< whose segment it runs: only to be compared
  std::uint64_t segments = 0;        ///< a number that is higher when another segment has begun
  /// Where it counts that: twice as often as it has had nothing to do; odd while it has nothing.
  static constexpr std::uint64_t does_not_count = UINT64_MAX;
  std::uint64_t rests = does_not_count;
};

/// While it lives the calling thread is in the list.
class TANDEM_API listed_thread {
 public:
  /// @param rests  where the thread counts the begins and the ends of its rests; null: nowhere
  listed_thread(const tandem::runtime* owner, const char* role, int number,
                const own_counter* rests = nullptr) noexcept;
  listed_thread(const listed_thread&) = delete;
  listed_thread& operator=(const listed_thread&) = delete;
  ~listed_thread();

  /// By its own thread: it begins something else, by which no segment is counted.
  void begins() noexcept { begun_.add(); }

  /// Calls `look(of, note)` with each thread of the list. `look` must not wait.
  using look_function = void (*)(void* of, const thread_note& note) noexcept;
  static void for_each(look_function look, void* of) noexcept;

  // For forks.
  static void lock() noexcept;
  static void unlock() noexcept;
  static void forget_all() noexcept;

 private:
  thread_note note_;
  const thread_context& context_;
  listed_thread* previous_;
  listed_thread* next_;
  own_counter begun_;
  const own_counter* const rests_;
};

}  // namespace detail
}  // namespace tandem::inline v0
