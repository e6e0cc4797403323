// foreign_home.cpp: jobs in the loop of another library. Protocol foreign_homes: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/foreign_home.hpp>

#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/runtime.hpp>

#include "executors/job_inbox.hpp"

namespace tandem::inline v0::detail {

class foreign_home::inbox final : public job_inbox {};

foreign_home::foreign_home(runtime& owner, std::string name)
    : executor(counting_tasks(), true),
      owner_(owner),
      name_(std::move(name)),
      inbox_(std::make_unique<inbox>()) {
  refuse_if_forked(owner_, "an executor over a foreign loop");
  set_serial();
}
foreign_home::~foreign_home() = default;

void foreign_home::post(job* item, post_kind /*kind*/) noexcept {
  refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
  hold_clock(owner_);                          // driving/clock: until it has run
  // foreign_homes/post
  if (inbox_->push(item)) call();
}

void foreign_home::post_batch(job_list items, post_kind /*kind*/) noexcept {
  if (items.empty()) return;
  refuse_if_forked(owner_, "executor::post");
  for (std::size_t i = items.size(); i > 0; --i) hold_clock(owner_);
  if (inbox_->push(items)) call();
}

// The caller has taken the mark: nobody else calls, or takes, until this has.
void foreign_home::call() noexcept {
  // The loop may run the last task, and let the home go, before this thread has left it.
  hold();
  // foreign_homes/end
  if (!with_loop([this] { call_loop(); })) call_end();
  release();
}

bool foreign_home::is_current() const noexcept {
  const thread_context& context = this_thread();
  return context.current_executor == this && context.layer == nullptr;
}

bool foreign_home::begin_task() noexcept {
  hold();
  return true;
}
void foreign_home::end_task() noexcept { release(); }

bool foreign_home::try_hold() noexcept {
  std::uint32_t seen = holds_.load(std::memory_order_relaxed);
  // Relaxed: whoever has a hold has what it needs; the end is ordered by release().
  while (seen != 0) {
    if (holds_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void foreign_home::release() noexcept {
  // acq_rel: the end comes after all that the others have done.
  if (holds_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool foreign_home::try_run(job* item) noexcept {
  const thread_context& context = this_thread();
  if (context.current_executor != nullptr || context.segment != 0 || !is_in_loop()) return false;
  // A loop of several threads may be running another job.
  if (!inbox_->try_wake()) return false;
  hold();  // the task may end, and with it the last hold
  run_one(item);
  if (!inbox_->sleep()) call();
  release();
  return true;
}

void foreign_home::run_some() noexcept {
  hold();
  // One batch: then the loop's other callbacks have their turn.
  job* oldest = inbox_->take();
  while (oldest != nullptr) {
    job* const item = oldest;
    oldest = std::exchange(item->next, nullptr);
    run_one(item);
    release_clock(owner_);
  }
  if (!inbox_->sleep()) call();
  release();
}

// Touches nothing of the home afterwards: the task may have been the last to hold it.
void foreign_home::run_one(job* item) noexcept {
  thread_context& context = this_thread();
  // The loop may itself be run by a job of another executor.
  executor* const outer = std::exchange(context.current_executor, this);
  const executor* const layer = std::exchange(context.layer, nullptr);
  environment* const env = std::exchange(context.env, item->env);
  context.budget = await_budget;
  item->run(item);
  if (context.current_executor == nullptr) [[unlikely]]
    end_forked_child();
  context.env = env;
  context.layer = layer;
  context.current_executor = outer;
}

void foreign_home::end_loop() noexcept {
  lock_.lock();
  const bool first = !std::exchange(has_ended_, true);
  if (first) let_loop_go();
  lock_.unlock();
  if (first) stop_tasks();
}

void foreign_home::call_dropped() noexcept {
  end_loop();
  call_end();
}

}  // namespace tandem::inline v0::detail
