// worker_set.hpp: the workers of a pool, which come and go while thieves look at them.
// SPDX-License-Identifier: MIT
//
// A worker object is made once, when its number is needed for the first time, and lives as long as
// the pool: a thread that comes later takes the lowest number that is free. So a thief may look at
// any worker that it has ever seen; one without a thread has nothing. Below end() lie all that have
// one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "crew/worker.hpp"

namespace tandem::inline v0::detail {

class worker_set {
 public:
  /// @param limit  what `most` may become
  worker_set(worker_pool::impl& pool, tandem::runtime& owner, unsigned most, unsigned limit)
      : pool_(pool),
        owner_(owner),
        most_(most),
        slots_(std::make_unique<std::atomic<worker*>[]>(std::size_t{2} * limit)),
        spare_(std::make_unique<worker>(pool, owner, 0U)) {
    make_room(most);
  }
  worker_set(const worker_set&) = delete;
  worker_set& operator=(const worker_set&) = delete;

  class iterator {
   public:
    explicit iterator(const std::atomic<worker*>* at) noexcept : at_(at) {}
    // Relaxed: written before end_ was, which whoever iterates has read.
    worker& operator*() const noexcept { return *at_->load(std::memory_order_relaxed); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    const std::atomic<worker*>* at_;
  };
  iterator begin() const noexcept { return iterator(slots_.get()); }
  iterator end() const noexcept { return iterator(slots_.get() + count()); }

  /// All that ever had a thread: their counters go on.
  class ever_made {
   public:
    explicit ever_made(const worker_set& of) noexcept : of_(of) {}
    iterator begin() const noexcept { return of_.begin(); }
    iterator end() const noexcept {
      return iterator(of_.slots_.get() + of_.made_count_.load(std::memory_order_acquire));
    }

   private:
    const worker_set& of_;
  };
  ever_made all() const noexcept { return ever_made(*this); }
  /// Jobs that workers have taken, by all of them. Any thread.
  std::uint64_t items_taken() const noexcept;
  /// Spawned tasks that have ended on them. Any thread.
  std::uint64_t tasks_ended() const noexcept;

  /// crew/numbers. Any thread. seq_cst: a sleeper's scan (parking/announce) comes to a worker whose
  /// thread was started before.
  unsigned count() const noexcept { return end_.load(std::memory_order_seq_cst); }
  worker& operator[](unsigned number) const noexcept {
    return *slots_[number].load(std::memory_order_relaxed);  // number < count()
  }
  /// Threads that there may be. Relaxed: under the idle lock it counts.
  unsigned most() const noexcept { return most_.load(std::memory_order_relaxed); }

  // The rest under the pool's idle lock.

  /// Before set_most(); numbers that were in use stay. @throws std::bad_alloc
  void make_room(unsigned most) {
    const unsigned wanted = 2 * most;
    if (wanted <= numbers_) return;
    free_.reserve(wanted);
    made_.reserve(wanted);
    takes_.resize(wanted, false);
    numbers_ = wanted;
  }
  void set_most(unsigned most) noexcept { most_.store(most, std::memory_order_relaxed); }
  /// crew/numbers. False only if as many threads as the pool may have were dismissed and have not
  /// left yet.
  bool has_free_number() const noexcept { return !free_.empty() || made_.size() < numbers_; }
  /// The worker with the lowest number that has no thread. @throws std::bad_alloc, but not where no
  /// worker has one: the first is made beforehand, since without it nobody could report anything
  worker& take() {
    unsigned number = static_cast<unsigned>(made_.size());
    if (free_.empty()) {
      made_.push_back(spare_ != nullptr ? std::move(spare_)
                                        : std::make_unique<worker>(pool_, owner_, number));
      slots_[number].store(made_.back().get(),
                           std::memory_order_relaxed);           // published by the counts
      made_count_.store(number + 1, std::memory_order_release);  // pairs with all()
    } else {
      std::pop_heap(free_.begin(), free_.end(), std::greater<>());
      number = free_.back();
      free_.pop_back();
    }
    takes_[number] = true;
    if (number >= count()) end_.store(number + 1, std::memory_order_seq_cst);
    return *made_[number];
  }
  /// Its thread is about to end, and its lanes are empty.
  void give_back(const worker& gone) noexcept {
    takes_[gone.number] = false;
    free_.push_back(gone.number);
    std::push_heap(free_.begin(), free_.end(), std::greater<>());
    unsigned last = count();
    while (last > 0 && !takes_[last - 1]) --last;
    end_.store(last, std::memory_order_seq_cst);
  }

 private:
  worker_pool::impl& pool_;
  tandem::runtime& owner_;
  std::atomic<unsigned> most_;  // threads that stay or work; written under the idle lock
  unsigned numbers_ = 0;        // and those that were dismissed and are on their way out
  const std::unique_ptr<std::atomic<worker*>[]> slots_;
  alignas(64) std::atomic<unsigned> end_{0};
  std::atomic<unsigned> made_count_{0};
  std::unique_ptr<worker> spare_;              // the first, until it is needed
  std::vector<std::unique_ptr<worker>> made_;  // by number
  std::vector<unsigned> free_;                 // a heap, the lowest number on top
  std::vector<bool> takes_;                    // by number: has a thread
};

}  // namespace tandem::inline v0::detail
