// ordered_scheduler.cpp: items in, tokens below, items out. Protocol queues: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include "executors/ordered_scheduler.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <tandem/detail/admission.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0::detail {

namespace {
constexpr std::size_t first_tokens = 32;
constexpr std::size_t most_tokens_at_once = 4096;
}  // namespace

ordered_scheduler::ordered_scheduler(executor& below, const char* what)
    : below_(below),
      counted_below_(below.counts_tasks() ? &below : nullptr),
      owner_(below.owner()) {
  refuse_if_forked(below, what);
  admission place(below);
  make_tokens(first_tokens);
  place.keep();
}

ordered_scheduler::~ordered_scheduler() {
  if (counted_below_ != nullptr) counted_below_->end_task();
}

void ordered_scheduler::enqueue(ordered_queue& target, job_list& items, post_kind kind) noexcept {
  refuse_if_forked(below_, "executor::post");  // terminates
  const std::size_t count = items.size();
  job_list tokens;
  {
    const std::lock_guard held(lock_);
    for (std::size_t i = 0; i < count; ++i) {
      if (job* const one = take_token()) {
        tokens.push_back(one);
      } else {
        ++owed_;
      }
    }
    const bool was_empty = target.items_.empty();
    target.items_.append(items);
    target.waiting_.store(target.items_.size(), std::memory_order_relaxed);
    waiting_.store(waiting() + count, std::memory_order_relaxed);
    if (was_empty) filled(target);
  }
  // queues/post. Until our tokens have run there are no more items than tokens: one of ours finds
  // one.
  if (tokens.empty()) return;
  if (count == 1) {
    below_.post(tokens.pop_front(), kind);
  } else {
    below_.post_batch(tokens, kind);
  }
}

job* ordered_scheduler::take_token() noexcept {
  if (idle_tokens_.empty()) [[unlikely]] {
    try {
      // As many again as there were: rare, and never more than twice the most that ever waited at
      // once.
      make_tokens(std::min(token_count_, most_tokens_at_once));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  return idle_tokens_.pop_front();
}

void ordered_scheduler::make_tokens(std::size_t more) {
  tokens_.push_back(std::make_unique<token[]>(more));
  for (std::size_t i = 0; i < more; ++i) {
    tokens_.back()[i].scheduler = this;
    idle_tokens_.push_back(&tokens_.back()[i]);
  }
  token_count_ += more;
}

job* ordered_scheduler::take(token& spent, ordered_queue*& from, bool& again) noexcept {
  const std::lock_guard held(lock_);
  again = owed_ != 0;
  if (again) [[unlikely]] {
    --owed_;
  } else {
    idle_tokens_.push_back(&spent);  // nobody below holds it any more
  }
  ordered_queue& chosen = choose();
  job* const item = chosen.items_.pop_front();
  chosen.waiting_.store(chosen.items_.size(), std::memory_order_relaxed);
  waiting_.store(waiting() - 1, std::memory_order_relaxed);
  taken(chosen);
  from = &chosen;
  return item;
}

void ordered_scheduler::token::run_one(job* self) noexcept {
  auto& spent = *static_cast<token*>(self);
  ordered_queue* queue = nullptr;
  bool again = false;
  job* const item = spent.scheduler->take(spent, queue, again);
  // There was no memory for a token of its own: this one goes for that item, too, which keeps the
  // scheduler until then. Before our item runs: that may take long.
  if (again) [[unlikely]]
    spent.scheduler->below_.post(&spent, post_kind::spawn);
  // queues/hold. The item's hold keeps queue and scheduler until it has run.
  run_in_layer(this_thread(), *queue, item);
  queue->end_task();
}

void ordered_queue::post(job* item, post_kind kind) noexcept {
  job_list one;
  one.push_back(item);
  begin_item();
  scheduler_.enqueue(*this, one, kind);
}

void ordered_queue::post_batch(job_list items, post_kind kind) noexcept {
  if (items.empty()) return;
  for (std::size_t i = items.size(); i > 0; --i) begin_item();
  scheduler_.enqueue(*this, items, kind);
}

bool ordered_queue::is_current() const noexcept { return this_thread().layer == this; }

}  // namespace tandem::inline v0::detail
