// explore_engine.hpp: threads, store buffers and clocks of an execution; for explore.cpp only.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "explore.hpp"
#include "explore_picker.hpp"
#include "fiber.hpp"

namespace tandem::test {

inline bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

inline void learn(vector_clock& clock, const vector_clock& other) noexcept {
  for (std::size_t i = 0; i < most_threads; ++i) clock[i] = std::max(clock[i], other[i]);
}
inline bool knows(const vector_clock& clock, const vector_clock& other) noexcept {
  for (std::size_t i = 0; i < most_threads; ++i) {
    if (other[i] > clock[i]) return false;
  }
  return true;
}

/// There is one, used by one thread; its fibers last.
class schedule::engine {
 public:
  static engine& instance() {
    static engine here;
    return here;
  }

  void execute(std::uint64_t seed, const std::function<void(schedule&)>& scenario) {
    picker_ = picker(seed);
    threads_.clear();
    words_ = 0;
    steps_ = 0;
    kept_ = 0;
    law_.clear();
    schedule one(*this);
    scenario(one);
  }

  void add(const char* name, std::function<void()> body) {
    if (threads_.size() == most_threads) std::abort();
    threads_.emplace_back().name = name;
    threads_.back().body = std::move(body);
  }

  bool go() {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      threads_[i].clock[i] = 1;
      fibers_.start(i, [this, i] { live(i); });
    }
    abandoned_ = false;
    inside_ = true;
    at_ = nobody;
    reschedule();
    inside_ = false;
    for (logical_thread& each : threads_) flush_all(each);
    if (abandoned_) fibers_.abandon();
    return !abandoned_;
  }

  /// Whether a thread runs, and atomics are points.
  bool inside() const noexcept { return inside_; }
  std::size_t running() const noexcept { return at_; }
  std::uint64_t random(std::uint64_t bound) noexcept { return picker_.random(bound); }
  std::uint32_t next_number() noexcept { return words_++; }

  void require(bool holds, const char* law) {
    if (!holds && law_.empty()) law_ = law;
  }
  const std::string& broken_law() const noexcept { return law_; }
  std::string tail() const;

  void wait_until(const std::function<bool()>& ready) {
    while (!ready()) {
      threads_[at_].waits_for = &ready;
      note("waits");
      reschedule();
      threads_[at_].waits_for = nullptr;
    }
  }

  std::uint64_t load(const explored_word& word, std::memory_order order) {
    if (looking_ != nobody) return visible(threads_[looking_], word).first;
    point();
    logical_thread& self = threads_[at_];
    const auto [bits, own] = visible(self, word);
    if (!own && acquires(order)) learn(self.clock, word.released_);
    note(own ? "loads its own" : "loads", word, bits, order);
    return bits;
  }

  void store(explored_word& word, std::uint64_t bits, std::memory_order order) {
    point();
    logical_thread& self = threads_[at_];
    note("stores", word, bits, order);
    const bool ordered = releases(order);
    self.buffer.push_back({&word, bits, ordered ? self.clock : vector_clock{}, ordered});
    if (ordered) ++self.clock[at_];
    if (order == std::memory_order_seq_cst) {
      flush_all(self);
    } else if (self.buffer.size() > buffer_capacity) {
      flush(self, 0);
    }
  }

  std::uint64_t begin_change(explored_word& word, std::memory_order order) {
    point();
    flush_all(threads_[at_]);
    if (acquires(order)) learn(threads_[at_].clock, word.released_);
    note("reads to change", word, word.memory_, order);
    return word.memory_;
  }
  void end_change(explored_word& word, std::uint64_t bits, std::memory_order order) {
    logical_thread& self = threads_[at_];
    if (acquires(order)) learn(self.clock, word.released_);
    word.memory_ = bits;
    if (releases(order)) {  // else the release sequence just goes on
      learn(word.released_, self.clock);
      ++self.clock[at_];
    }
    note("changes", word, bits, order);
  }

  void read(watched_word& data) {
    const vector_clock& clock = threads_[at_].clock;
    require(knows(clock, data.writes_), "plain data is read after it was written");
    data.reads_[at_] = clock[at_];
  }
  void write(watched_word& data) {
    const vector_clock& clock = threads_[at_].clock;
    require(knows(clock, data.writes_) && knows(clock, data.reads_),
            "plain data is written after all earlier access");
    data.writes_[at_] = clock[at_];
  }

  void forget(const explored_word& word) {
    for (logical_thread& each : threads_) {
      std::erase_if(each.buffer, [&](const buffered& entry) { return entry.word == &word; });
    }
  }

 private:
  static constexpr std::size_t buffer_capacity = 8;
  static constexpr std::uint64_t most_steps = 5000;
  static constexpr std::size_t tail_length = 100;

  struct buffered {
    explored_word* word;
    std::uint64_t bits;
    vector_clock released;
    bool ordered;  // by release: comes after all before it
  };
  struct logical_thread {
    std::string name;
    std::function<void()> body;
    const std::function<bool()>* waits_for = nullptr;
    bool ended = false;
    vector_clock clock{};
    std::vector<buffered> buffer;
  };

  void live(std::size_t i) {
    threads_[i].body();
    threads_[i].ended = true;
    note("ends");
    reschedule();
  }

  void point() {
    if (++steps_ > most_steps) {
      stop("everybody ends within the bound on steps");
    } else {
      reschedule();
    }
  }
  /// Does not return.
  void stop(const char* law) {
    require(false, law);
    abandoned_ = true;
    fibers_.leave();
  }

  /// Goes on with whom the schedule picks; returns when that is the caller, or all have ended.
  void reschedule() {
    const std::size_t me = at_;
    while (true) {
      actor_list ready;
      actor_list full;
      for (std::size_t i = 0; i < threads_.size(); ++i) {
        if (can_go_on(i)) ready.add(i);
        if (!threads_[i].buffer.empty()) full.add(buffer_of(i));
      }
      if (ready.empty() && full.empty()) {
        if (!all_ended()) return stop("somebody can go on");
        if (me != nobody) fibers_.leave();
        return;
      }
      const std::size_t actor = picker_.pick(ready, full, me);
      if (actor < most_threads) {
        at_ = actor;
        if (actor != me) fibers_.switch_to(actor);
        return;
      }
      flush_one(actor - buffer_of(0));
    }
  }

  bool all_ended() const {
    return std::all_of(threads_.begin(), threads_.end(), [](const auto& t) { return t.ended; });
  }
  bool can_go_on(std::size_t thread) {
    const logical_thread& it = threads_[thread];
    if (it.ended || it.waits_for == nullptr) return !it.ended;
    looking_ = thread;
    const bool ready = (*it.waits_for)();
    looking_ = nobody;
    return ready;
  }

  /// What a thread sees in a word, and whether it is still in its own buffer.
  static std::pair<std::uint64_t, bool> visible(const logical_thread& self,
                                                const explored_word& word) noexcept {
    for (auto entry = self.buffer.rbegin(); entry != self.buffer.rend(); ++entry) {
      if (entry->word == &word) return {entry->bits, true};
    }
    return {word.memory_, false};
  }

  void flush(logical_thread& thread, std::size_t i) {
    const buffered entry = thread.buffer[i];
    thread.buffer.erase(thread.buffer.begin() + static_cast<std::ptrdiff_t>(i));
    entry.word->memory_ = entry.bits;
    entry.word->released_ = entry.released;
    keep({static_cast<std::size_t>(&thread - threads_.data()), "is seen to have stored",
          entry.word->number_, entry.word->kind_, entry.bits, std::memory_order_relaxed});
  }
  void flush_all(logical_thread& thread) {
    while (!thread.buffer.empty()) flush(thread, 0);
  }
  /// The oldest, or a relaxed one that overtakes stores to other words. What was overtaken is then
  /// kept back a while longer: else nobody would have the time to see it.
  void flush_one(std::size_t thread) {
    const std::vector<buffered>& buffer = threads_[thread].buffer;
    std::size_t i = 0;
    switch (random(4)) {
      case 0: i = buffer.size() - 1; break;
      case 1: i = random(buffer.size()); break;
      default: break;
    }
    for (std::size_t older = 0; older < i; ++older) {
      if (buffer[older].word == buffer[i].word) i = older;  // which overtakes no store to its word
    }
    if (buffer[i].ordered) i = 0;
    flush(threads_[thread], i);
    if (i > 0) picker_.delay(thread);
  }

  /// Kept for the tail of the schedule.
  struct step {
    std::size_t thread;
    const char* what;
    std::uint32_t word;
    explored_word::look kind;
    std::uint64_t bits;
    std::memory_order order;
  };
  static constexpr std::uint32_t no_word = UINT32_MAX;

  void note(const char* what) {
    keep({at_, what, no_word, explored_word::look::number, 0, std::memory_order_relaxed});
  }
  void note(const char* what, const explored_word& word, std::uint64_t bits,
            std::memory_order order) {
    keep({at_, what, word.number_, word.kind_, bits, order});
  }
  void keep(const step& taken) noexcept { tail_[kept_++ % tail_length] = taken; }

  fiber_set fibers_{most_threads};
  picker picker_{0};
  std::vector<logical_thread> threads_;
  std::size_t at_ = nobody;       // who runs
  std::size_t looking_ = nobody;  // whose condition is looked at
  bool inside_ = false;
  bool abandoned_ = false;
  std::string law_;
  std::uint32_t words_ = 0;
  std::uint64_t steps_ = 0;
  std::array<step, tail_length> tail_{};
  std::uint64_t kept_ = 0;
};

}  // namespace tandem::test
