// driven_workers.cpp: items are run by whoever drives the runtime.
// SPDX-License-Identifier: MIT
#include "worker/driven_workers.hpp"

#include <utility>

#include "observe/observed_segment.hpp"
#include "worker/as_worker.hpp"
#include "worker/worker_loop.hpp"

namespace tandem::inline v0::detail {

std::size_t driven_workers::run_some(std::size_t most_items) noexcept {
  thread_context& context = detail::this_thread();
  worker& self = workers_[0];
  const as_worker role(context, self, home_);
  self.turn_item = 0;  // records/clock
  std::size_t ran = 0;
  for (; ran < most_items; ++ran) {
    job* const item = order_.next(self);
    if (item == nullptr) break;
    worker_loop::execute(self, context, item);
  }
  return ran;
}

bool driven_workers::step(std::uint64_t random) noexcept {
  const unsigned count = workers_.count();
  const auto first = static_cast<unsigned>(random % count);
  for (unsigned i = 0; i < count; ++i) {
    worker& self = workers_[(first + i) % count];
    job* const item = choose(self, random >> 32);
    if (item == nullptr) continue;
    thread_context& context = detail::this_thread();
    const as_worker role(context, self, home_);
    // A ready await may be as good a place as any for others to come in between.
    const std::uint32_t chance = static_cast<std::uint32_t>(random >> 56);
    worker_loop::execute(self, context, item, chance % 4 == 0 ? await_budget : 1 + chance / 4 % 4);
    return true;
  }
  return false;
}

job* driven_workers::choose(worker& self, std::uint64_t random) noexcept {
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

job* driven_workers::take_one_of(worker& self, std::uint64_t random) noexcept {
  const std::uint32_t there = self.fifo.size();
  if (there == 0) return nullptr;
  for (std::uint64_t skip = random % there % 4; skip > 0; --skip) {
    order_.push(self, self.fifo.pop());
  }
  return self.fifo.pop();
}

job* driven_workers::injected_one_of(std::uint64_t random) noexcept {
  const std::size_t there = order_.injection().size();
  // Submissions have an order of their own, which the seed leaves alone.
  if (!submissions_.empty() && (there == 0 || random / 4 % 2 == 0)) {
    // Null: all that was there had left its place (submissions/sweep).
    if (job* const item = submissions_.pop()) return item;
  }
  if (there == 0) return nullptr;
  for (std::uint64_t skip = random % there % 4; skip > 0; --skip) {
    // Another thread may add items meanwhile, but nobody else takes any.
    job_list oldest;
    oldest.push_back(order_.injection().pop());
    order_.injection().hand_over(oldest);
  }
  return order_.injection().pop();
}

job* driven_workers::steal_from_one(worker& self, std::uint64_t random) noexcept {
  worker& victim = workers_[static_cast<unsigned>(random % workers_.count())];
  if (&victim == &self) return nullptr;
  std::uint32_t moved = 0;
  job* item = victim.fifo.steal_half(self.fifo, moved);
  if (item == nullptr) {
    if (victim.forks.size() != 0) (void)victim.forks.look_after();
    item = victim.forks.steal();
    moved = 1;
  }
  if (item == nullptr) return nullptr;
  self.steals.add(moved);
  if (any_records()) [[unlikely]]
    note_stolen(self);
  if (is_recorded()) [[unlikely]] {
    const recorded_here role(self.recorded);
    record_loop(trace_kind::steal, victim.number, moved);
  }
  return item;
}

}  // namespace tandem::inline v0::detail
