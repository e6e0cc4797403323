// worker_steps.cpp: a pool without threads: items are run by whoever drives the runtime.
// SPDX-License-Identifier: MIT
#include <utility>

#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0 {

namespace {

/// While it lives the calling thread is the worker.
class as_worker {
 public:
  as_worker(detail::thread_context& context, detail::worker& self, executor& pool) noexcept
      // Not 0 only in a child of fork() whose thread was inside a task: that segment waits below.
      : context_(context), outer_segment_(std::exchange(context.segment, 0)) {
    context_.current_worker = &self;
    context_.current_executor = &pool;
    context_.lane = &self.forks;
    context_.lane_home = &pool;
  }
  as_worker(const as_worker&) = delete;
  as_worker& operator=(const as_worker&) = delete;
  ~as_worker() {
    context_.current_worker = nullptr;
    context_.current_executor = nullptr;
    context_.lane = nullptr;
    context_.lane_home = nullptr;
    context_.segment = outer_segment_;
  }

 private:
  detail::thread_context& context_;
  const std::uint64_t outer_segment_;
};

}  // namespace

std::size_t worker_pool::impl::run_some(std::size_t most_items) noexcept {
  detail::thread_context& context = detail::this_thread();
  worker& self = workers_[0];
  const as_worker role(context, self, pool_);
  self.turn_item = 0;  // records/clock
  std::size_t ran = 0;
  for (; ran < most_items; ++ran) {
    job* item = next_local(self);
    if (item == nullptr) item = take_injected(self);
    if (item == nullptr) break;
    execute(self, context, item);
  }
  return ran;
}

bool worker_pool::impl::step(std::uint64_t random) noexcept {
  const unsigned count = workers_.count();
  const auto first = static_cast<unsigned>(random % count);
  for (unsigned i = 0; i < count; ++i) {
    worker& self = workers_[(first + i) % count];
    job* const item = choose(self, random >> 32);
    if (item == nullptr) continue;
    detail::thread_context& context = detail::this_thread();
    const as_worker role(context, self, pool_);
    // A ready await may be as good a place as any for others to come in between.
    const std::uint32_t chance = static_cast<std::uint32_t>(random >> 56);
    execute(self, context, item, chance % 4 == 0 ? detail::await_budget : 1 + chance / 4 % 4);
    return true;
  }
  return false;
}

job* worker_pool::impl::choose(worker& self, std::uint64_t random) noexcept {
  // Any order in which several threads might take these items is one that may be tried.
  constexpr std::uint64_t sources = 5;
  self.give_way = false;
  if (self.forks.size() != 0) (void)self.forks.look_after();
  const std::uint64_t first = random % sources;
  random /= sources;
  for (std::uint64_t i = 0; i < sources; ++i) {
    job* item = nullptr;
    switch ((first + i) % sources) {
      case 0: item = self.fifo.take_next(); break;
      case 1: item = take_one_of(self, random); break;
      case 2: item = self.forks.pop(); break;
      case 3: item = injected_one_of(random); break;
      default: item = steal_from_one(self, random); break;
    }
    if (item != nullptr) return item;
  }
  return nullptr;
}

job* worker_pool::impl::take_one_of(worker& self, std::uint64_t random) noexcept {
  const std::uint32_t there = self.fifo.size();
  if (there == 0) return nullptr;
  for (std::uint64_t skip = random % there % 4; skip > 0; --skip) {
    push_fifo(self, self.fifo.pop());
  }
  return self.fifo.pop();
}

job* worker_pool::impl::injected_one_of(std::uint64_t random) noexcept {
  const std::size_t there = injection_.size();
  // Submissions have an order of their own, which the seed leaves alone.
  if (!submissions_.empty() && (there == 0 || random / 4 % 2 == 0)) {
    // Null: all that was there had left its place (submissions/leave).
    if (job* const item = submissions_.pop()) return item;
  }
  if (there == 0) return nullptr;
  for (std::uint64_t skip = random % there % 4; skip > 0; --skip) {
    // Another thread may add items meanwhile, but nobody else takes any.
    job_list oldest;
    oldest.push_back(injection_.pop());
    injection_.hand_over(oldest);
  }
  return injection_.pop();
}

job* worker_pool::impl::steal_from_one(worker& self, std::uint64_t random) noexcept {
  worker& victim = workers_[static_cast<unsigned>(random % workers_.count())];
  if (&victim == &self) return nullptr;
  std::uint32_t moved = 0;
  job* item = victim.fifo.steal_half(self.fifo, moved);
  if (item == nullptr) {
    if (victim.forks.size() != 0) (void)victim.forks.look_after();
    item = victim.forks.steal();
    moved = 1;
  }
  if (item != nullptr) self.steals.add(moved);
  return item;
}

}  // namespace tandem::inline v0
