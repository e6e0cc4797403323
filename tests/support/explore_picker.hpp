// explore_picker.hpp: who goes on next, as the seed of a schedule says; for explore.cpp only.
// SPDX-License-Identifier: MIT
//
// Actors 0 .. most_threads - 1 are the threads, the next ones their store buffers: a buffer that
// comes late in the order keeps its stores back for long.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tandem/detail/split_mix.hpp>
#include <utility>

#include "explore.hpp"

namespace tandem::test {

inline constexpr std::size_t nobody = 2 * most_threads;
constexpr std::size_t buffer_of(std::size_t thread) { return most_threads + thread; }

/// Some of the actors.
class actor_list {
 public:
  void add(std::size_t actor) noexcept { actors_[count_++] = actor; }
  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  std::size_t operator[](std::size_t i) const noexcept { return actors_[i]; }
  const std::size_t* begin() const noexcept { return actors_.data(); }
  const std::size_t* end() const noexcept { return actors_.data() + count_; }
  bool has(std::size_t actor) const noexcept { return std::find(begin(), end(), actor) != end(); }

 private:
  std::array<std::size_t, 2 * most_threads> actors_;
  std::size_t count_ = 0;
};

class picker {
 public:
  /// Seeds may be consecutive.
  explicit picker(std::uint64_t seed) noexcept : state_(tandem::detail::split_mix(seed) | 1) {
    strategy_ =
        static_cast<strategy>(std::min<std::uint64_t>(random(4), 2));  // half are by priority
    flush_chance_ = std::uint64_t{8} << random(5);
    if (strategy_ == by_priority) {
      flush_chance_ = 16 * random(2);
      draw_priorities();
    }
  }

  /// A number below `bound`.
  std::uint64_t random(std::uint64_t bound) noexcept {  // xorshift64*
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545F4914F6CDD1DU) >> 11) % bound;
  }

  /// One of both lists, of which one may be empty; `last` is who went on before.
  std::size_t pick(const actor_list& threads, const actor_list& buffers,
                   std::size_t last) noexcept {
    if (!buffers.empty() && (threads.empty() || random(256) < flush_chance_)) {
      return buffers[random(buffers.size())];
    }
    if (strategy_ == by_priority) return highest(threads, buffers);
    if (strategy_ == rarely_switching && random(8) != 0 && threads.has(last)) return last;
    return threads[random(threads.size())];
  }

  /// By priority the thread and its buffer come last from now on.
  void delay(std::size_t thread) noexcept {
    priorities_[thread] = --lowest_;
    priorities_[buffer_of(thread)] = --lowest_;
  }

 private:
  enum strategy : std::uint8_t { uniform, rarely_switching, by_priority };

  void draw_priorities() noexcept {
    for (std::size_t i = 0; i < priorities_.size(); ++i) {
      priorities_[i] = static_cast<int>(i);
      std::swap(priorities_[i], priorities_[random(i + 1)]);
    }
    // The length of the execution is not known: guessed.
    const std::uint64_t length = std::uint64_t{16} << random(5);
    change_count_ = random(changes_.size() + 1);
    for (std::size_t i = 0; i < change_count_; ++i) changes_[i] = 1 + random(length);
  }

  /// At a change point whoever would go on comes last from then on.
  std::size_t highest(const actor_list& threads, const actor_list& buffers) noexcept {
    const auto find = [&] {
      std::size_t best = nobody;
      for (const actor_list* list : {&threads, &buffers}) {
        for (const std::size_t actor : *list) {
          if (best == nobody || priorities_[actor] > priorities_[best]) best = actor;
        }
      }
      return best;
    };
    ++picks_;
    for (std::size_t i = 0; i < change_count_; ++i) {
      if (changes_[i] == picks_) priorities_[find()] = --lowest_;
    }
    return find();
  }

  std::uint64_t state_;
  strategy strategy_;
  std::uint64_t flush_chance_;  // of 256, at each step
  std::array<int, 2 * most_threads> priorities_{};
  int lowest_ = 0;
  std::array<std::uint64_t, 4> changes_{};
  std::size_t change_count_ = 0;
  std::uint64_t picks_ = 0;
};

}  // namespace tandem::test
