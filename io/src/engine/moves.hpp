// moves.hpp: which engine hosts which completion thread, and who is on the way.
// SPDX-License-Identifier: MIT
//
// One lock for a pool: moving is rare. Under it are every thread's wish (`wanted`), the requests of
// each engine, and who leaves. Protocol moving: io/src/engine/README.md.
#pragma once

#include <mutex>
#include <vector>

#include "engine/completion_thread.hpp"

namespace tandem::inline v0::io {

class completion_engine;
class guests;

class moves {
 public:
  moves() = default;
  moves(const moves&) = delete;
  moves& operator=(const moves&) = delete;

  /// Before anybody runs.
  void add(completion_thread::impl& thread) { threads_.push_back(&thread); }

  /// moving/ask. From now on `thread` is to be hosted by `engine`, which runs or is about to be
  /// started.
  void send(completion_thread::impl& thread, completion_engine& engine) noexcept;
  /// spreading/open. Somebody is about to be bound to `thread`: until it has an engine of its own,
  /// `first` hosts it, which always runs. Nothing, if it is open.
  void open(completion_thread::impl& thread, completion_engine& first) noexcept;
  /// spreading/level. `engine` has just been started, one of `engines` that run: it gets its own
  /// thread, and of those that host the most so many that it has its share.
  void level(completion_thread::impl& own, completion_engine& engine, unsigned engines) noexcept;
  /// moving/ask. `engine` is to host nobody, and to end then: what it has, or would get, goes to
  /// `survivor`.
  void retire(completion_engine& engine, completion_engine& survivor) noexcept;
  /// moving/end. At the end, while all engines still run: waits until nobody is on the way. pre: no
  /// task lives, and nobody sends or retires any more
  void settle() noexcept;

 private:
  friend class guests;
  /// pre: locked. @returns  whom to wake after unlocking
  static completion_engine* request(completion_thread::impl& thread) noexcept;
  /// pre: locked. How many open threads it hosts, or is to.
  unsigned hosted_by(const completion_engine& engine) const noexcept;
  /// pre: locked. A guest of whoever hosts the most; null if nobody has more than one.
  completion_thread::impl* guest_of_the_fullest() const noexcept;

  std::mutex lock_;
  std::vector<completion_thread::impl*> threads_;
};

}  // namespace tandem::inline v0::io
