// completion_engine.cpp: the loop: inboxes, jobs, batches. Its sleep: engine_sleep.cpp.
// SPDX-License-Identifier: MIT
#include "engine/completion_engine.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <tandem/cpu_count.hpp>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/promise_base.hpp>

#include "engine/stealable_executor.hpp"
#include "platform/os_thread.hpp"
#include "receive/receive_buffers.hpp"
#include "receive/receiver.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::size_t items_between_looks = 64;  // jobs run before the ring is looked at again

}  // namespace

completion_engine::completion_engine(runtime& owner, stealable_executor& shared, moves& moved,
                                     unsigned index, unsigned most,
                                     const completion_options& options)
    : owner_(owner),
      shared_(shared),
      moves_(moved),
      index_(index),
      name_(owner.options().name + "-io-" + std::to_string(index)),
      options_(options),
      workers_fill_cpus_(owner.workers().size() >= usable_cpus()) {
  hosted_.reserve(most);
}

completion_engine::~completion_engine() = default;

completion_engine* completion_engine::current() noexcept {
  return static_cast<completion_engine*>(current_thread_slot());
}

void completion_engine::start() {
  join();
  {
    const std::lock_guard guard(moves_.lock_);
    leaving_ = false;
  }
  stopping_.store(false, std::memory_order_relaxed);  // published by the start
  ready_ = false;
  set_up_failure_ = nullptr;
  thread_ = start_os_thread(name_.c_str(), [this] { run(); });
  std::unique_lock lock(set_up_);
  set_up_done_.wait(lock, [this] { return ready_; });
  if (set_up_failure_ != nullptr) {
    lock.unlock();
    thread_.join();
    std::rethrow_exception(std::exchange(set_up_failure_, nullptr));
  }
}

void completion_engine::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_seq_cst);
  wake();
  thread_.join();
}

void completion_engine::join() noexcept {
  if (thread_.joinable()) thread_.join();
}

void completion_engine::run() noexcept {
  {
    const std::lock_guard lock(set_up_);
    try {
      set_up();
    } catch (...) {
      set_up_failure_ = std::current_exception();
      backend_.reset();
    }
    ready_ = true;
    set_up_done_.notify_one();
    if (set_up_failure_ != nullptr) return;
  }
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  context.current_executor = &shared_;
  set_current_thread_slot(this);
  loop();
  set_current_thread_slot(nullptr);
  context.current_executor = nullptr;
  buffers_->abandon(buffers_->count() - free_buffers_ - spare_count_);
  // Whoever saw that we sleep may be about to wake us. Nobody sees it any more.
  while (waking_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  // stealable/call. Called to search at the last moment.
  if (searching_.exchange(false, std::memory_order_relaxed)) shared_.search_ended();
  backend_.reset();
  running_.store(false, std::memory_order_release);  // whoever sees it finds nothing of it left
}

void completion_engine::set_up() {
  cpu_clock_.store(cpu_clock_of_this_thread(), std::memory_order_relaxed);
  os_thread_.store(number_of_this_thread(), std::memory_order_relaxed);
  backend_ = make_backend(options_);
  backend_name_ = backend_->name();
  takes_files_.store(backend_->takes_files(), std::memory_order_relaxed);
  buffers_ = new detail::receive_buffers(
      *this, options_.receive_buffers, options_.max_receive_buffers, options_.receive_buffer_bytes);
  free_buffers_ = buffers_->count();
  spare_buffers_ = detail::receive_buffers::none;
  spare_count_ = 0;
  has_swept_ = false;
  backend_->use_buffers(*buffers_);
  running_.store(true, std::memory_order_relaxed);  // published by ready_
}

void completion_engine::loop() noexcept {
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  while (true) {
    if (requested_.load(std::memory_order_acquire)) [[unlikely]]
      handle_requests();  // moving/ask
    take_inboxes();
    take_shared();
    run_jobs(context);
    flush_hand_overs();
    // ring_sleep/clock. What they have begun holds the clock itself.
    for (host* const each : hosted_) each->settle_held();
    if (any_moving_) [[unlikely]]
      continue_moves();  // moving/drain
    if (is_done()) break;
    if (has_jobs() || (!hosted_.empty() && shared_.steal(*this))) {
      backend_->wait(std::chrono::steady_clock::time_point::min());
    } else {
      sleep();
    }
    look();
  }
}

bool completion_engine::is_done() noexcept {
  if (stopping_.load(std::memory_order_acquire)) {
    bool ended = !has_jobs() && !requested_.load(std::memory_order_acquire);
    for (host* const each : hosted_) ended &= each->end_sources() && !each->has_mail();
    if (!ended) return false;
    for (host* const each : hosted_) each->leave_sources();
    return true;
  }
  return leave();  // moving/leave
}

bool completion_engine::has_jobs() noexcept {
  for (host* const each : hosted_) {
    if (each->has_local()) return true;
  }
  return first_ != nullptr || !lane_.empty();
}

void completion_engine::take_inboxes() noexcept {
  for (host* const each : hosted_) each->take_inbox();
}

void completion_engine::take_shared() noexcept {
  const bool searched =
      searching_.load(std::memory_order_relaxed);  // own word, but for stealable/call
  if (!searched) {
    shared_.take_injected(*this);
    return;
  }
  if (!has_jobs()) (void)shared_.steal(*this);
  shared_.take_injected(*this);
  searching_.store(false, std::memory_order_relaxed);
  shared_.search_ended();  // stealable/call: whoever finds more work calls the next one
}

void completion_engine::look() noexcept {
  const unsigned ended = backend_->reap(&completion_engine::operation_ended, this);
  if (ended != 0) {
    completed_.add(ended);
    batches_.add();
    reaped_count_.add(ended);
    const auto exponent = static_cast<std::size_t>(std::bit_width(ended - 1));
    batch_sizes_[std::min(exponent, batch_sizes_.size() - 1)].add();
  }
  if (drives_timers_) {
    tandem::detail::timer_service& timers = tandem::detail::timers_of(owner_);
    timers.expire(timers.now());
  }
  feed_receivers();
  flush_hand_overs();
}

void completion_engine::operation_ended(void* self, detail::operation& ended) noexcept {
  (void)self;  // one of its guests
  ended.thread()->implementation().ended(ended);
}

bool completion_engine::submit(detail::operation& operation) noexcept {
  submitted_.add();
  if (backend_->submit(operation) == submit_answer::pending) return true;
  completed_.add();
  return false;
}

void completion_engine::route(tandem::detail::promise_base& waiting) noexcept {
  waiting.note_queued();
  for (host* const each : hosted_) {
    if (waiting.home == each) {
      stayed_ = true;
      each->add_local(&waiting);
      return;
    }
  }
  if (waiting.home == &shared_) {
    stayed_ = true;
    reaped_.push_back(
        &waiting);  // readiness/leave: nobody may take it before the backend is done with the batch
    return;
  }
  hand_over_later(waiting);
}

void completion_engine::hand_over_later(tandem::detail::promise_base& waiting) noexcept {
  // operations/complete. A batch is one post, one wake: collected per home, of which there are few.
  for (std::size_t i = 0; i < hand_over_count_; ++i) {
    if (hand_overs_[i].target == waiting.home) {
      hand_overs_[i].items.push_back(&waiting);
      return;
    }
  }
  if (hand_over_count_ == homes_at_once) [[unlikely]] {
    of_further_homes_.push_back(&waiting);
    return;
  }
  hand_over& fresh = hand_overs_[hand_over_count_++];
  fresh.target = waiting.home;
  fresh.items.push_back(&waiting);
}

void completion_engine::publish(job* item) noexcept {
  if (!lane_.push(item)) shared_.inject(item);  // stealable/publish
}

void completion_engine::flush_hand_overs() noexcept {
  if (!reaped_.empty()) {
    // The whole batch is there for others before the first of it runs.
    while (job* const item = reaped_.pop_front()) publish(item);
    if (lane_.size() > 1) shared_.notify();
  }
  if (hand_over_count_ == 0) return;
  post_hand_overs();
  while (!of_further_homes_.empty()) [[unlikely]] {
    job_list rest = std::exchange(of_further_homes_, job_list());
    while (job* const item = rest.pop_front()) {
      hand_over_later(*static_cast<tandem::detail::promise_base*>(item));
    }
    post_hand_overs();  // of eight homes more: so it ends
  }
}

void completion_engine::post_hand_overs() noexcept {
  const std::size_t homes = std::exchange(hand_over_count_, 0);
  for (std::size_t i = 0; i < homes; ++i) {
    hand_over& each = hand_overs_[i];
    handed_over_.add();
    const std::size_t count = each.items.size();
    if (each.target == &owner_.workers()) brought_ += count;
    each.target->post_batch(std::exchange(each.items, job_list()), post_kind::resume);
    // ring_sleep/clock
    for (std::size_t k = 0; k < count; ++k) tandem::detail::release_clock(owner_);
  }
}

void completion_engine::run_job(tandem::detail::thread_context& context, job* item,
                                tandem::executor& as) noexcept {
  items_.add();
  context.current_executor = &as;
  context.env = item->env;
  context.budget = tandem::detail::await_budget;
  // stalls/count. Relaxed: what is told of a segment is a hint, its number is what counts.
  const std::uint64_t segment = segments_.load(std::memory_order_relaxed);
  running_at_.store(item->env != nullptr ? item->env->spawned_at() : std::source_location(),
                    std::memory_order_relaxed);
  segments_.store(segment + 1, std::memory_order_release);
  item->run(item);
  segments_.store(segment + 2, std::memory_order_release);
  // A child of fork() must leave the rings, which it shares with its parent, alone.
  if (context.current_executor == nullptr) [[unlikely]]
    tandem::detail::end_forked_child();
  context.env = nullptr;
}

void completion_engine::run_jobs(tandem::detail::thread_context& context) noexcept {
  for (std::size_t i = 0; i < items_between_looks; ++i) {
    // In turn: of each guest one, and one that anybody may run.
    bool any = false;
    for (std::size_t k = 0; k < hosted_.size(); ++k) {
      host& guest = *hosted_[k];
      if (job* const item = guest.take_local()) {
        run_job(context, item, guest);
        any = true;
      }
    }
    job* const item = first_ != nullptr ? std::exchange(first_, nullptr) : lane_.pop();
    if (item != nullptr) {
      run_job(context, item, shared_);
      tandem::detail::release_clock(owner_);  // ring_sleep/clock
      any = true;
    }
    if (!any) break;
  }
  context.current_executor = &shared_;
}

std::chrono::nanoseconds completion_engine::cpu_time() const noexcept {
  return cpu_time_of(cpu_clock_.load(std::memory_order_relaxed));  // published by start()
}

void completion_engine::add_stats(completion_pool_stats& out) const noexcept {
  const std::uint64_t completed = completed_.read();
  const std::uint64_t submitted = submitted_.read();
  if (running_.load(std::memory_order_acquire)) ++out.threads;
  out.submitted += submitted;
  out.completed += completed;
  out.in_flight += submitted > completed ? submitted - completed : 0;
  out.batches += batches_.read();
  out.reaped += reaped_count_.read();
  for (std::size_t i = 0; i < batch_sizes_.size(); ++i)
    out.batch_sizes[i] += batch_sizes_[i].read();
  out.handed_over += handed_over_.read();
  out.items += items_.read();
  out.stolen += stolen_.read();
  out.backlog += lane_.size();
  out.wakes += wakes_.load(std::memory_order_relaxed);
}

}  // namespace tandem::inline v0::io
