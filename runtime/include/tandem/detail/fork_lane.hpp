// fork_lane.hpp: a worker's LIFO lane: the split deque of forked children.
// SPDX-License-Identifier: MIT
//
// Indices only grow: top <= split <= bottom. What lies in [top, split) is public: thieves take the
// oldest. What lies in [split, bottom) is the owner's alone, so that pushing and popping it costs
// no barrier. The public part is a deque of Chase and Lev (SPAA 2005) with `split` as its bottom,
// in the orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013), written as operations instead of
// fences, which ThreadSanitizer understands; the split is that of Dinan et al. (SC 2009) and Lace
// (2014).
//
// Protocol fork_lane:
//   push       store the slot, bottom + 1; then look at `attention` (relaxed)
//   pop        bottom > split: bottom - 1. Else fork_lane/take_back
//   take_back  the younger half of the public part: split - k (seq_cst), then read top (seq_cst);
//              top below the new split: those k are private now. Else put split back, and go on
//              with fork_lane/take_last
//   take_last  the youngest public one: split - 1 (seq_cst), then read top (seq_cst); if it was the
//              last: compete for it by a CAS on top
//   steal      read top, then split (both seq_cst), then the slot; CAS top; failing means that
//              somebody else has the item. Then read split again: whoever took the last public item
//              sets `attention`
//   expose     on attention: clear it by an exchange, then read top; if nothing is public, half of
//              the private part becomes so (split, seq_cst), and the owner sees to it that an idle
//              worker wakes (parking/wake). Where several siblings have just been pushed all of it
//              becomes public, whatever was; then read top again: a worker is woken if what was
//              public has gone meanwhile. If there is none either, `attention` is set again for the
//              next push. What it exposes is young if the owner had found the lane empty before: then
//              it writes the time down first (lanes/ripe, in runtime/src/worker/README.md)
// So whenever nothing is public, either `attention` is set or nothing is private.
// The accesses of fork_lane/take_back, fork_lane/take_last and fork_lane/steal are all seq_cst: of
// an owner and a thief that want one item at least one sees the other. A thief that read an old
// split can take the item at top only (its CAS), and that one is below the new split, or the owner
// competes for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

struct thread_context;

struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
};

/// For what fork_lane/expose wants somebody woken.
enum class exposure : std::uint8_t {
  nothing,  ///< there is nothing, or something was public before
  young,    ///< the first items of a lane that was empty
  old,      ///< what has waited among what is private
};

/// @tparam Atomics  std_atomics; another set in the test that explores schedules
template <class Atomics>
class basic_fork_lane {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

 public:
  explicit basic_fork_lane(std::int64_t capacity = 256) { use(new_ring(capacity)); }
  basic_fork_lane(const basic_fork_lane&) = delete;
  basic_fork_lane& operator=(const basic_fork_lane&) = delete;

  /// Owner only. @returns whether the owner has to look after the lane (look_after)
  [[nodiscard]] TANDEM_ALWAYS_INLINE bool push(job* item) noexcept {
    const std::int64_t index = bottom();
    // fork_lane/push: published by fork_lane/expose
    slots_[index & mask_].store(item, std::memory_order_relaxed);
    set_bottom(index + 1);
    // Relaxed: a hint; fork_lane/expose reads it by an exchange.
    return attention.load(std::memory_order_relaxed) || index + 1 == room_end_;
  }

  /// Owner only. As push(), for one of several siblings: the caller looks at `attention` when all are
  /// there, and not before: of some that were exposed alone the others would stay behind.
  TANDEM_ALWAYS_INLINE void push_sibling(job* item) noexcept {
    const std::int64_t index = bottom();
    slots_[index & mask_].store(item, std::memory_order_relaxed);  // fork_lane/push
    set_bottom(index + 1);
    if (index + 1 == room_end_) [[unlikely]]
      make_room();
  }

  /// Owner only, where the newest item, if it is still there, is known to lie at `index`: takes it
  /// if it is private. Reads nothing that a push or pop has just written.
  TANDEM_ALWAYS_INLINE bool pop_private_at(std::int64_t index) noexcept {
    if (index < split_.load(std::memory_order_relaxed)) return false;  // own word
    set_bottom(index);
    return true;
  }

  /// Owner only. The newest item, or null.
  job* pop() noexcept {
    if (bottom() == split_.load(std::memory_order_relaxed)) return take_back();  // own words
    set_bottom(bottom() - 1);
    return slots_[bottom() & mask_].load(std::memory_order_relaxed);  // the owner wrote it
  }

  /// Owner only, when nothing is private. The newest item, or null.
  job* take_back() noexcept {
    const std::int64_t split = bottom();
    const std::int64_t look = split - top_.load(std::memory_order_relaxed);  // only shrinks
    if (look <= 0) return empty_now();
    if (look > 1) {
      const std::int64_t half = split - (look + 1) / 2;
      split_.store(half, std::memory_order_seq_cst);      // fork_lane/take_back
      if (top_.load(std::memory_order_seq_cst) < half) {  // fork_lane/take_back
        set_bottom(split - 1);
        return slots_[(split - 1) & mask_].load(std::memory_order_relaxed);
      }
      split_.store(split, std::memory_order_seq_cst);  // nobody has taken anything because of it
    }
    const std::int64_t last = split - 1;
    split_.store(last, std::memory_order_seq_cst);            // fork_lane/take_last
    std::int64_t top = top_.load(std::memory_order_seq_cst);  // fork_lane/take_last
    if (top < last) {
      set_bottom(last);
      return slots_[last & mask_].load(std::memory_order_relaxed);
    }
    job* item = nullptr;
    if (top == last && top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) {
      item = slots_[last & mask_].load(std::memory_order_relaxed);
    }
    split_.store(split, std::memory_order_relaxed);  // empty: nothing to publish
    (void)empty_now();
    return item;
  }

  /// Owner only: makes room, and exposes half of the private items if thieves find none; or `all` of
  /// them, whatever thieves find.
  ///
  /// @param now  tells the time, as steal_ripe() is told it
  template <class Now>
  exposure look_after(bool all, Now now) noexcept {
    if (bottom() == room_end_) make_room();
    // fork_lane/expose: pairs with fork_lane/steal and with posters
    attention.exchange(false, std::memory_order_seq_cst);
    const std::int64_t split = split_.load(std::memory_order_relaxed);  // own word
    const std::int64_t hidden = bottom() - split;
    const bool has_public = top_.load(std::memory_order_seq_cst) < split;
    if (hidden == 0 || (has_public && !all)) {
      if (!has_public) (void)empty_now();
      return exposure::nothing;
    }
    const bool young = found_empty_;
    if (young) {
      found_empty_ = false;
      born_.store(now(), std::memory_order_relaxed);  // published by the split
    }
    // fork_lane/expose, parking/post
    split_.store(split + (all ? hidden : (hidden + 1) / 2), std::memory_order_seq_cst);
    // Whoever takes that now looks further.
    if (has_public && top_.load(std::memory_order_seq_cst) < split) return exposure::nothing;
    return young ? exposure::young : exposure::old;
  }
  /// The same where nobody asks for the time. @returns whether it made something public
  bool look_after() noexcept {
    return look_after(false, [] { return std::uint64_t{0}; }) != exposure::nothing;
  }

  /// Owner only, before it waits: nothing stays out of the thieves' reach.
  void expose_all() noexcept { split_.store(bottom(), std::memory_order_seq_cst); }

  /// Any thread. The oldest public item, or null (there is none, or it lost a race).
  job* steal() noexcept {
    std::int64_t top = top_.load(std::memory_order_seq_cst);            // fork_lane/steal
    const std::int64_t split = split_.load(std::memory_order_seq_cst);  // fork_lane/steal
    if (top >= split) return nullptr;
    ring* const slots = ring_.load(std::memory_order_acquire);  // pairs with make_room()
    job* const item = slots->at(top).load(std::memory_order_relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) return nullptr;
    // Read again: fork_lane/take_back may have lowered it since. Of this load and
    // fork_lane/take_back's of top one sees the other.
    if (top + 1 >= split_.load(std::memory_order_seq_cst)) {
      attention.store(true, std::memory_order_release);  // fork_lane/steal
    }
    return item;
  }

  /// Any thread, lanes/ripe. As steal(), but nothing of a lane that is young; then `young` is set.
  job* steal_ripe(std::uint64_t now, bool& young) noexcept {
    if (empty()) return nullptr;
    if (!is_young(now)) return steal();
    young = true;
    return nullptr;
  }
  /// Any thread, lanes/ripe: whether its owner has found it empty a moment ago.
  bool is_young(std::uint64_t now) const noexcept {
    // It may have been born since the caller looked at the time.
    const auto age = static_cast<std::int64_t>(now - born());
    return age < youth && age > -farthest;
  }
  /// Any thread: when it last got its first items.
  std::uint64_t born() const noexcept { return born_.load(std::memory_order_relaxed); }

  /// Any thread: whether there is nothing to steal.
  bool empty() const noexcept {
    const std::int64_t top = top_.load(std::memory_order_seq_cst);
    return top >= split_.load(std::memory_order_seq_cst);
  }

  /// Any thread, for statistics: all items, as they were a moment ago.
  std::size_t size() const noexcept {
    const std::int64_t count = bottom() - top_.load(std::memory_order_relaxed);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  /// Owner only: whether there is nothing at all, but for what thieves are taking right now.
  bool drained() const noexcept {
    return bottom() == split_.load(std::memory_order_relaxed) && empty();
  }
  /// Owner only: where the next item goes.
  std::int64_t position() const noexcept { return bottom(); }
  /// Any thread: the index of the item that a thief would take next.
  std::int64_t oldest() const noexcept { return top_.load(std::memory_order_seq_cst); }

  /// "Owner, look": set by thieves (fork_lane/steal) and posters, read relaxed at every fork and
  /// join.
  atomic<bool> attention{true};

 private:
  // lanes/ripe. Of whatever counts the time: about a microsecond; and what two CPUs may differ by.
  static constexpr std::int64_t youth = 2'500;
  static constexpr std::int64_t farthest = 250'000'000;

  struct ring {
    explicit ring(std::int64_t capacity)
        : mask(capacity - 1), slots(new atomic<job*>[static_cast<std::size_t>(capacity)]) {}
    atomic<job*>& at(std::int64_t i) noexcept { return slots[static_cast<std::size_t>(i & mask)]; }
    const std::int64_t mask;
    const std::unique_ptr<atomic<job*>[]> slots;
  };

  /// fork_lane/expose has to run at the next push: it is the first item that thieves could take.
  job* empty_now() noexcept {
    found_empty_ = true;
    attention.store(true, std::memory_order_relaxed);  // own thread reads it
    return nullptr;
  }

  // Relaxed: the owner's word; others read it for statistics.
  std::int64_t bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }
  void set_bottom(std::int64_t index) noexcept { bottom_.store(index, std::memory_order_relaxed); }

  ring* new_ring(std::int64_t capacity) {
    rings_.push_back(std::make_unique<ring>(capacity));
    return rings_.back().get();
  }

  void use(ring* fresh) noexcept {
    slots_ = fresh->slots.get();
    mask_ = fresh->mask;
    room_end_ = top_.load(std::memory_order_relaxed) + fresh->mask + 1;  // top only grows
    ring_.store(fresh, std::memory_order_release);                       // pairs with steal()
  }

  TANDEM_NOINLINE void make_room() noexcept {
    // fork_lane/steal: slots below are free
    const std::int64_t top = top_.load(std::memory_order_acquire);
    room_end_ = top + mask_ + 1;
    if (bottom() != room_end_) return;
    ring* const old = rings_.back().get();
    ring* const fresh = new_ring((mask_ + 1) * 2);
    for (std::int64_t i = top; i < bottom(); ++i) {
      fresh->at(i).store(old->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    use(fresh);
  }

  // Written by the owner only; split_, ring_ and born_ are read by thieves. All on one line, and
  // `attention`.
  bool found_empty_ = true;  // since it last made something public
  atomic<std::int64_t> bottom_{0};
  std::int64_t room_end_ = 0;  // the bottom at which the ring may be full
  atomic<job*>* slots_ = nullptr;
  std::int64_t mask_ = 0;
  atomic<std::int64_t> split_{0};
  atomic<ring*> ring_{nullptr};
  atomic<std::uint64_t> born_{0};
  std::vector<std::unique_ptr<ring>> rings_;  // old ones stay until the end: thieves may read them
  alignas(64) atomic<std::int64_t> top_{0};   // CAS by thieves and by the owner
};

class fork_lane final : public basic_fork_lane<std_atomics> {
 public:
  using basic_fork_lane::basic_fork_lane;
};

/// Why an owner looks after its lane.
enum class lane_look : std::uint8_t {
  push,      ///< of one item
  siblings,  ///< have been pushed: the first may compute for long, so thieves have to find all others
  join,
};

/// Exposes, wakes and grows as the lane of `context` needs; of a join, @returns whether to give way
/// (joins/give_way).
TANDEM_API bool look_after_lane(thread_context& context, lane_look why) noexcept;

}  // namespace tandem::inline v0::detail
