// thread_loads.hpp: what each completion thread has to serve: sockets, and tasks that live with them.
// SPDX-License-Identifier: MIT
//
// Written when a socket comes or goes, and at its first operation at home; never between. Lives as
// long as the last socket, which may be longer than its pool. Protocol spreading: README.md beside
// this.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace tandem::inline v0::io {

/// Who hears of connections whose tasks live on completion threads.
class resident_listener {
 public:
  resident_listener(const resident_listener&) = delete;
  resident_listener& operator=(const resident_listener&) = delete;
  /// On the completion thread: `residents` there are now, with this one.
  virtual void resident_arrived(std::uint32_t residents) noexcept = 0;

 protected:
  resident_listener() noexcept = default;
  ~resident_listener() = default;
};

/// Any thread, unless said otherwise.
class thread_loads {
 public:
  /// @param threads  how many completion threads there are
  /// @throws         std::bad_alloc
  thread_loads(unsigned threads, resident_listener& told)
      : told_(&told), sockets_(std::make_unique<load[]>(threads)) {}
  thread_loads(const thread_loads&) = delete;
  thread_loads& operator=(const thread_loads&) = delete;

  void bind(unsigned thread) noexcept { count(thread).fetch_add(1, std::memory_order_relaxed); }
  void leave(unsigned thread) noexcept { count(thread).fetch_sub(1, std::memory_order_relaxed); }
  /// spreading/settle. pre: the pool lives, as the calling task does
  void settle() noexcept {
    told_->resident_arrived(residents_.fetch_add(1, std::memory_order_relaxed) + 1);
  }
  void leave_resident() noexcept { residents_.fetch_sub(1, std::memory_order_relaxed); }

  std::uint32_t residents() const noexcept { return residents_.load(std::memory_order_relaxed); }
  /// spreading/choose. Of the first `open`: the one with the fewest sockets, the first of several.
  /// Several may choose at once: then one of them finds a socket more there than it saw.
  unsigned least_loaded(unsigned open) const noexcept {
    unsigned least = 0;
    for (unsigned i = 1; i < open; ++i) {
      if (sockets(i) < sockets(least)) least = i;
    }
    return least;
  }
  std::uint32_t sockets(unsigned thread) const noexcept {
    return sockets_[thread].count.load(std::memory_order_relaxed);
  }

 private:
  struct alignas(64) load {
    std::atomic<std::uint32_t> count{0};
  };
  std::atomic<std::uint32_t>& count(unsigned thread) noexcept { return sockets_[thread].count; }

  resident_listener* const told_;
  const std::unique_ptr<load[]> sockets_;
  alignas(64) std::atomic<std::uint32_t> residents_{0};
};

}  // namespace tandem::inline v0::io
