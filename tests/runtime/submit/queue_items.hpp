// queue_items.hpp: items for the parts of a submission queue: spawned tasks that nobody has launched.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <source_location>
#include <utility>
#include <vector>

#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>

namespace tandem::test {

/// Numbered as they were made, from 0. Each of them counts its end.
class queue_items {
 public:
  explicit queue_items(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add();
  }
  queue_items(const queue_items&) = delete;
  queue_items& operator=(const queue_items&) = delete;
  ~queue_items() {
    for (detail::joinable_root* each : all_) each->forget();
  }

  detail::joinable_root& add() {
    all_.push_back(new detail::spawned<void>(identity_, identity_.workers(), until(ending(*this)),
                                             std::source_location::current(), true));
    all_.back()->set_queue_place(detail::joinable_root::place::queued);
    return *all_.back();
  }
  detail::joinable_root& operator[](std::size_t number) const { return *all_[number]; }
  /// Nobody but who has kept them has them any more.
  void forget_all() {
    for (detail::joinable_root* each : all_) each->forget();
    all_.clear();
  }
  std::size_t ended() const { return ended_; }
  /// -1: null, or none of these.
  int number_of(const job* item) const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i] == item) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  class ending {
   public:
    explicit ending(queue_items& of) noexcept : of_(&of) {}
    ending(ending&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    ~ending() {
      if (of_ != nullptr) ++of_->ended_;
    }

   private:
    queue_items* of_;
  };
  static task<void> until(ending /*is_destroyed*/) { co_return; }
  static runtime_options without_threads() {
    runtime_options chosen;
    chosen.min_threads = 0;
    return chosen;
  }

  runtime identity_{without_threads()};  // a block belongs to one; it never hears of these
  std::size_t ended_ = 0;
  std::vector<detail::joinable_root*> all_;
};

}  // namespace tandem::test
