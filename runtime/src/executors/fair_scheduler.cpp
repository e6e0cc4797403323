// fair_scheduler.cpp: whose turn it is, and the end of a queue. Protocol queues: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/fair_scheduler.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tandem/detail/forked.hpp>

#include "executors/ordered_scheduler.hpp"

namespace tandem::inline v0 {

namespace {

/// What a turn costs a queue of weight 1, in virtual time. Divisible by all numbers up to 16.
constexpr std::uint64_t whole_turn = 720'720;

}  // namespace

/// Virtual time is the start tag of the item taken last. A queue's tag is where its next item
/// starts; taking it moves the tag on by a turn over the weight. The lowest tag goes next, among
/// equals the one that waits longest.
class fair_scheduler::impl final : public detail::ordered_scheduler {
 public:
  explicit impl(tandem::executor& below) : detail::ordered_scheduler(below, "fair_scheduler") {}

  std::size_t queue_count() const noexcept { return open_.load(std::memory_order_relaxed); }

  // The life of queues.
  void queue_made();
  void queue_left() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }
  void queue_ended() noexcept;

 private:
  struct is_later;

  void filled(detail::ordered_queue& queue) noexcept override;
  detail::ordered_queue& choose() noexcept override;
  void taken(detail::ordered_queue& queue) noexcept override;

  std::atomic<std::size_t> open_{0};  // queues that are not gone
  // Under the lock.
  std::size_t made_ = 0;            // queues whose memory is there
  std::uint64_t virtual_time_ = 0;  // wraps: tags are compared by their distance
  std::uint64_t sequence_ = 0;
  std::vector<fair_queue::impl*> busy_;  // a heap; has room for all queues
};

/// One word says who still needs the queue (queues/close):
///   closed  no task is admitted any more
///   gone    closed, and at one moment without tasks and items: the scheduler does not count it
///   handle  there are handles
///   uses    tasks, and items that wait or run; above the three bits
/// The memory goes with the last of handle and uses.
class fair_queue::impl final : public detail::ordered_queue {
 public:
  impl(fair_scheduler::impl& scheduler, unsigned weight, std::string name)
      : detail::ordered_queue(scheduler, std::move(name)), fair_(scheduler), weight_(weight) {
    fair_.queue_made();
    fair_.retain();
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  bool begin_task() noexcept override {
    if (!fair_.admits()) return false;
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    do {
      if ((seen & closed_bit) != 0) return false;
    } while (!word_.compare_exchange_weak(seen, seen + one_use, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return true;
  }
  void begin_item() noexcept override {
    word_.fetch_add(one_use, std::memory_order_relaxed);  // its task keeps the queue meanwhile
  }
  void end_task() noexcept override;
  void close() noexcept;
  void drop_handle() noexcept;

  bool is_closed() const noexcept {
    return (word_.load(std::memory_order_acquire) & closed_bit) != 0;
  }
  unsigned weight() const noexcept { return weight_; }

  // The scheduler's, under its lock.
  std::uint64_t tag = 0;
  std::uint64_t sequence = 0;

 private:
  static constexpr std::uint64_t closed_bit = 1;
  static constexpr std::uint64_t gone_bit = 2;
  static constexpr std::uint64_t handle_bit = 4;
  static constexpr std::uint64_t one_use = 8;

  ~impl() override {
    fair_.queue_ended();
    fair_.release();
  }

  fair_scheduler::impl& fair_;
  const unsigned weight_;
  std::atomic<std::uint64_t> word_{handle_bit};
};

void fair_queue::impl::end_task() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  while (true) {
    if ((seen & ~handle_bit) == (one_use | closed_bit)) {
      // queues/close. Ours is the last use: the queue goes. Our hold is kept until the scheduler
      // knows.
      if (!word_.compare_exchange_weak(seen, seen | gone_bit, std::memory_order_acq_rel)) continue;
      fair_.queue_left();
      seen |= gone_bit;
    }
    // acq_rel: the end comes after whatever the others did.
    if (word_.compare_exchange_weak(seen, seen - one_use, std::memory_order_acq_rel)) break;
  }
  const std::uint64_t left = seen - one_use;
  if (left < one_use && (left & handle_bit) == 0) delete this;
}

void fair_queue::impl::close() noexcept {
  // The caller has a handle.
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    if ((seen & closed_bit) != 0) return;
    next = seen | closed_bit;
    if (seen < one_use) next |= gone_bit;  // queues/close
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if ((next & gone_bit) != 0) fair_.queue_left();
}

void fair_queue::impl::drop_handle() noexcept {
  close();
  if (word_.fetch_and(~handle_bit, std::memory_order_acq_rel) < one_use) {
    // No uses.
    delete this;
  }
}

struct fair_scheduler::impl::is_later {
  bool operator()(const fair_queue::impl* a, const fair_queue::impl* b) const noexcept {
    const auto distance = static_cast<std::int64_t>(a->tag - b->tag);
    return distance != 0 ? distance > 0 : a->sequence > b->sequence;
  }
};

void fair_scheduler::impl::queue_made() {
  const std::lock_guard held(lock());
  if (busy_.capacity() == made_) busy_.reserve(std::max<std::size_t>(8, made_ * 2));
  ++made_;
  open_.fetch_add(1, std::memory_order_relaxed);
}

void fair_scheduler::impl::queue_ended() noexcept {
  if (is_parents()) return;
  const std::lock_guard held(lock());
  --made_;
}

void fair_scheduler::impl::filled(detail::ordered_queue& queue) noexcept {
  auto& fresh = static_cast<fair_queue::impl&>(queue);
  // What it was charged last still counts; that lies ahead by no more than a turn. Anything else is
  // long ago: it starts now, with nothing saved up.
  if (fresh.tag - virtual_time_ > whole_turn) fresh.tag = virtual_time_;
  fresh.sequence = ++sequence_;
  busy_.push_back(&fresh);
  std::push_heap(busy_.begin(), busy_.end(), is_later());
}

detail::ordered_queue& fair_scheduler::impl::choose() noexcept { return *busy_.front(); }

void fair_scheduler::impl::taken(detail::ordered_queue& queue) noexcept {
  auto& served = static_cast<fair_queue::impl&>(queue);
  std::pop_heap(busy_.begin(), busy_.end(), is_later());
  virtual_time_ = served.tag;
  served.tag += whole_turn / served.weight();
  served.sequence = ++sequence_;
  if (served.waiting() == 0) {
    busy_.pop_back();
  } else {
    std::push_heap(busy_.begin(), busy_.end(), is_later());
  }
}

fair_scheduler::fair_scheduler(tandem::executor& below)
    : impl_(new impl(below), [](impl* shared) { shared->release(); }) {}

fair_queue fair_scheduler::add_queue(unsigned weight, std::string name) {
  if (weight == 0 || weight > most_weight) {
    throw std::invalid_argument("fair_scheduler::add_queue: the weight is " +
                                std::to_string(weight) + ": it has to be between 1 and " +
                                std::to_string(most_weight));
  }
  detail::refuse_if_forked(impl_->below(), "fair_scheduler::add_queue");
  auto* const made = new fair_queue::impl(*impl_, weight, std::move(name));
  return fair_queue(
      std::shared_ptr<fair_queue::impl>(made, [](fair_queue::impl* each) { each->drop_handle(); }));
}

std::size_t fair_scheduler::queue_count() const noexcept { return impl_->queue_count(); }
std::size_t fair_scheduler::waiting() const noexcept { return impl_->waiting(); }

tandem::executor& fair_queue::executor() const noexcept {
  TANDEM_ASSERT(impl_ != nullptr, "an empty fair_queue was used: assign one of add_queue() first");
  return *impl_;
}
void fair_queue::close() noexcept { impl_->close(); }
bool fair_queue::is_closed() const noexcept { return impl_->is_closed(); }
unsigned fair_queue::weight() const noexcept { return impl_->weight(); }
std::size_t fair_queue::waiting() const noexcept { return impl_->waiting(); }

}  // namespace tandem::inline v0
