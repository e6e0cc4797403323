// worker_pool_impl.cpp: posting, and what the parts of a pool ask of each other.
// SPDX-License-Identifier: MIT
#include "pool/worker_pool_impl.hpp"

#include <algorithm>
#include <utility>

#include <tandem/cpu_count.hpp>
#include <tandem/detail/forked.hpp>

#include "process/fork_guard.hpp"
#include "process/suppressed.hpp"

namespace tandem::inline v0 {

namespace {

std::shared_ptr<const pool_options> settings_of(pool_options options) {
  options.max_threads = std::max({options.min_threads, options.max_threads, 1U});
  return std::make_shared<const pool_options>(std::move(options));
}

}  // namespace

worker_pool::impl::impl(worker_pool& of, tandem::runtime& runtime, detail::pool_owner& asked,
                        const pool_options& options, detail::driven_loop* driver)
    : pool(of),
      owner(runtime),
      answers(asked),
      name(options.name),
      loop(driver),
      settings_now(settings_of(options)),
      limits(options),
      visiting(driver != nullptr ? &runtime : nullptr),
      word(detail::pool_control::fixed_goal(options),
           driver == nullptr ? detail::pool_control::fixed_goal(options) : 0),
      workers(*this, runtime, driver != nullptr ? limits.core() : options.most_threads(),
              driver != nullptr ? limits.core() : pool_options::most_possible),
      threads(*this, of, name, driver == nullptr, limits, word, idle, workers),
      waking(limits, word, idle, workers, threads, control),
      submissions(options.submissions),
      // Spinning pays only where the spinner does not sit on the CPU that the work needs.
      order(workers, submissions, waking, watched, usable_cpus() > 1),
      working(of, limits, word, idle, threads, workers, control, waking, watched, port, order),
      driven(of, workers, submissions, order),
      desk({*this, runtime, name, driver, visiting, life, limits, word, workers, threads, waking,
            submissions, saturated}),
      saturated(*this, of, driver == nullptr, settings_now, submissions, desk,
                options.submissions.when_saturated),
      changes(*this),
      end(*this) {
  idle.make_room(workers.most());
  if (driver != nullptr) {
    // Nobody to wake: whoever drives looks at all of them.
    for (unsigned i = 0; i < limits.core(); ++i) workers.take();
    driver->drive(driven);
  } else if (options.is_adaptive()) {
    control.fill(make_control(settings_now.get(), true));
  }
}

std::unique_ptr<detail::pool_control> worker_pool::impl::make_control(
    const std::shared_ptr<const pool_options>& options, bool decides) {
  const detail::controlled_parts parts{{owner, name, workers, threads}, word, limits};
  detail::controlled_pool& self = *this;
  return std::make_unique<detail::pool_control>(self, parts, options, decides);
}

void worker_pool::impl::post(job* item, post_kind kind) noexcept {
  if (detail::worker* const self = detail::current_worker_of(*this)) {
    post_local(*self, item, kind);
    return;
  }
  inject(item, item);
}

void worker_pool::impl::post_batch(job_list items, post_kind kind) noexcept {
  if (items.empty()) return;
  if (detail::worker* const self = detail::current_worker_of(*this)) {
    // The oldest first: the next slot is its, the others follow in the ring. One wake, as below.
    post_local(*self, items.pop_front(), kind);
    if (items.empty()) return;
    order.push(*self, items);
    self->forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
    if (kind != post_kind::yield) waking.wake_one();
    return;
  }
  job* const oldest = items.pop_front();
  job* newest = oldest;
  while (job* const item = items.pop_front()) {
    item->next = newest;
    newest = item;
  }
  inject(newest, oldest);  // one wake for a batch; it wakes the next if it finds more
}

void worker_pool::impl::inject(job* newest, job* oldest) noexcept {
  detail::refuse_if_forked(owner, "executor::post");  // noexcept: terminates
  // parking/post. Whoever put the first one there tells the workers of all: this may be our last
  // access.
  if (loop == nullptr && order.injection().push_behind(newest, oldest)) return;
  visiting.begin_post();  // parking/visit: published by the push
  order.injection().push(newest, oldest);
  waking.wake_one();
  waking.ask_attention();
  if (loop != nullptr) loop->notify();
  visiting.end_post();  // parking/visit: the last access
}

void worker_pool::impl::post_local(detail::worker& self, job* item, post_kind kind) noexcept {
  if (kind == post_kind::resume) {
    job* const displaced = self.fifo.exchange_next(item);
    // A lone resumed item runs right after this segment: no wake for it.
    if (displaced != nullptr) order.push(self, displaced);
    self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
    if (displaced != nullptr) waking.wake_one();
    return;
  }
  order.push(self, item);
  self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
  if (kind == post_kind::spawn) waking.wake_one();
}

void worker_pool::impl::change_target(int by) noexcept {
  const detail::busy_word::counts after = word.change_target(by);
  if (after.room() < 0) control.get()->ask(detail::pool_control::too_many);
  if (by > 0 && after.room() > 0 && order.anything_queued()) waking.wake_one();
}

unsigned worker_pool::impl::goal() const noexcept {
  const detail::pool_control* const decides = control.get();
  if (decides != nullptr && limits.growth() == growth_order::demand) return decides->goal();
  // Without one that decides it is what the order of growth makes it (changes/control).
  return static_cast<unsigned>(std::max(0, word.target()));
}

void worker_pool::impl::note(pool_action action, decision_reason reason, unsigned old_goal,
                             unsigned new_goal, double throughput, double cpu) noexcept {
  const auto since = std::chrono::steady_clock::now() - born;
  log.add(
      pool_decision(since, action, reason, old_goal, new_goal, threads.threads(), throughput, cpu));
}

decision_reason worker_pool::impl::thread_started(bool for_full_queue) noexcept {
  const decision_reason why = for_full_queue ? decision_reason::queue_full : decision_reason::work;
  if (detail::pool_control* const watching = control.get()) return watching->thread_started(why);
  note(pool_action::inject, why, goal(), goal(), 0, 0);
  return why;
}

void worker_pool::impl::thread_retired(decision_reason why) noexcept {
  if (detail::pool_control* const watching = control.get()) {
    watching->thread_retired(why);
  } else {
    note(pool_action::retire, why, goal(), goal(), 0, 0);
  }
}

void worker_pool::impl::suppressed(const std::exception_ptr& failure) noexcept {
  detail::suppressed(owner.options(), failure);
}

void detail::use_port(worker_pool& pool, std::shared_ptr<worker_port> port) noexcept {
  pool.implementation().port.use(std::move(port));
}

bool detail::may_use_port(worker_pool& pool) noexcept {
  return pool.implementation().loop == nullptr;
}

bool detail::send_to_port(worker_pool& pool) noexcept {
  worker_pool::impl& workers = pool.implementation();
  const busy_word::counts seen = workers.word.now();
  if (seen.searching() != 0) return true;  // it will park
  if (seen.room() <= 0) return false;
  workers.waking.wake_one();
  return true;
}

detail::submission_desk& detail::desk_of(worker_pool& pool) noexcept {
  return pool.implementation().desk;
}

bool detail::look_after_lane(thread_context& context, lane_look why) noexcept {
  worker& self = *context.current_worker;
  return self.owner.order.look_after_lane(self, why);
}

}  // namespace tandem::inline v0
