// completion_thread.cpp: inbox, local queue, batches, sleeping.
// SPDX-License-Identifier: MIT
#include "completion_thread.hpp"

#include <cerrno>

#include <tandem/detail/promise_base.hpp>

#include "os_thread.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::size_t items_between_looks = 64;  // jobs run before the ring is looked at again

}  // namespace

completion_thread::completion_thread(std::unique_ptr<impl> made) noexcept
    : impl_(std::move(made)) {}
completion_thread::~completion_thread() = default;
tandem::executor& completion_thread::executor() noexcept { return *impl_; }
unsigned completion_thread::index() const noexcept { return impl_->index(); }

completion_thread::impl::impl(runtime& owner, completion_pool& pool,
                              tandem::executor& pool_executor, unsigned index,
                              const completion_options& options)
    : owner_(owner),
      pool_(pool),
      pool_executor_(pool_executor),
      index_(index),
      name_(owner.options().name + "-io-" + std::to_string(index)),
      options_(options) {}

completion_thread::impl::~impl() = default;

completion_thread::impl* completion_thread::impl::current() noexcept {
  return static_cast<impl*>(current_thread_slot());
}

void completion_thread::impl::start() {
  thread_ = start_os_thread(name_.c_str(), [this] { run(options_); });
  std::unique_lock lock(set_up_);
  set_up_done_.wait(lock, [this] { return ready_; });
  if (set_up_failure_ != nullptr) {
    lock.unlock();
    thread_.join();
    std::rethrow_exception(set_up_failure_);
  }
}

void completion_thread::impl::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_seq_cst);
  backend_->wake();
  thread_.join();
  while (posting_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

void completion_thread::impl::run(const completion_options& options) noexcept {
  {
    const std::lock_guard lock(set_up_);
    try {
      backend_ = make_backend(options);
    } catch (...) {
      set_up_failure_ = std::current_exception();
    }
    ready_ = true;
    set_up_done_.notify_one();
    if (set_up_failure_ != nullptr) return;
  }
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  context.current_executor = this;
  set_current_thread_slot(this);
  loop();
  set_current_thread_slot(nullptr);
  context = tandem::detail::thread_context{};
}

void completion_thread::impl::loop() noexcept {
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  while (true) {
    take_inbox();
    run_local(context);
    flush_hand_overs();
    if (stopping_.load(std::memory_order_acquire) && local_.empty() &&
        inbox_.load(std::memory_order_acquire) == nullptr) {
      return;
    }
    if (local_.empty()) {
      sleep();
    } else {
      backend_->wait(std::chrono::steady_clock::time_point::min());
    }
    look();
  }
}

void completion_thread::impl::sleep() noexcept {
  using clock = std::chrono::steady_clock;
  // I7. seq_cst: pairs with push_inbox and timer_service::arm. First we say that we sleep, then we
  // look once more; whoever comes after that look sees the flag and wakes us.
  asleep_.store(true, std::memory_order_seq_cst);
  clock::time_point deadline = clock::time_point::max();
  tandem::detail::timer_service& timers = tandem::detail::timers_of(owner_);
  if (drives_timers_) deadline = timers.sleep_begins(this);
  const bool work = inbox_.load(std::memory_order_seq_cst) != nullptr ||
                    stopping_.load(std::memory_order_seq_cst);
  backend_->wait(work ? clock::time_point::min() : deadline);
  asleep_.store(false, std::memory_order_relaxed);  // a late wake costs one round
  if (drives_timers_) timers.sleep_ended(this);
}

void completion_thread::impl::look() noexcept {
  const unsigned ended = backend_->reap(&impl::operation_ended, this);
  if (ended != 0) {
    completed_.add(ended);
    batches_.add();
  }
  if (drives_timers_) {
    tandem::detail::timer_service& timers = tandem::detail::timers_of(owner_);
    timers.expire(timers.now());
  }
  flush_hand_overs();
}

void completion_thread::impl::operation_ended(void* self, detail::operation& ended) noexcept {
  static_cast<impl*>(self)->finish(ended);
}

void completion_thread::impl::finish(detail::operation& operation) noexcept {
  if (operation.wants_retry()) {
    if (!operation.cancel_seen) {
      operation.state = detail::operation::phase::idle;
      submit(operation);
      return;
    }
    operation.complete(-ECANCELED);
  }
  tandem::detail::promise_base& waiting = operation.waiting();
  if (operation.finish_unposted()) route(waiting);  // else the cancel request is still to come (I6)
}

void completion_thread::impl::route(tandem::detail::promise_base& waiting) noexcept {
  if (waiting.home == this || waiting.home == &pool_executor_) {
    local_.push_back(&waiting);
    return;
  }
  // I5. A batch is one post, one wake: collected per home, of which there are few.
  for (hand_over& each : hand_overs_) {
    if (each.target == waiting.home) {
      each.items.push_back(&waiting);
      return;
    }
  }
  hand_overs_.push_back(hand_over{waiting.home, {}});
  hand_overs_.back().items.push_back(&waiting);
}

void completion_thread::impl::flush_hand_overs() noexcept {
  for (const hand_over& each : hand_overs_) {
    handed_over_.add();
    each.target->post_batch(each.items, post_kind::resume);
  }
  hand_overs_.clear();
}

void completion_thread::impl::run_local(tandem::detail::thread_context& context) noexcept {
  for (std::size_t i = 0; i < items_between_looks; ++i) {
    job* const item = local_.pop_front();
    if (item == nullptr) return;
    items_.add();
    context.env = item->env;
    context.budget = tandem::detail::await_budget;
    item->run(item);
    context.env = nullptr;
  }
}

bool completion_thread::impl::take_inbox() noexcept {
  // acquire: pairs with push_inbox.
  job* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
  job* oldest = nullptr;
  while (newest != nullptr) {
    job* const older = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  const bool any = oldest != nullptr;
  while (oldest != nullptr) {
    job* const item = oldest;
    oldest = item->next;
    local_.push_back(item);
  }
  return any;
}

void completion_thread::impl::push_inbox(job* first, job* last) noexcept {
  // What is pushed may end the runtime before we have left: stop() waits for that.
  posting_.fetch_add(1, std::memory_order_relaxed);  // published by the push
  job* head = inbox_.load(std::memory_order_relaxed);
  do {
    last->next = head;
  } while (!inbox_.compare_exchange_weak(head, first, std::memory_order_seq_cst,  // I7
                                         std::memory_order_relaxed));
  wake();
  posting_.fetch_sub(1, std::memory_order_release);  // pairs with stop()
}

void completion_thread::impl::wake() noexcept {
  // I8. Of all that come while it sleeps one wakes it.
  if (!asleep_.load(std::memory_order_seq_cst)) return;
  if (!asleep_.exchange(false, std::memory_order_seq_cst)) return;
  wakes_.fetch_add(1, std::memory_order_relaxed);
  backend_->wake();
}

void completion_thread::impl::post(job* item, post_kind) noexcept {
  if (is_current()) {
    local_.push_back(item);
  } else {
    push_inbox(item, item);
  }
}

void completion_thread::impl::post_batch(job_list items, post_kind) noexcept {
  if (items.empty()) return;
  if (is_current()) {
    local_.append(items);
    return;
  }
  // The inbox is newest first.
  job* const oldest = items.pop_front();
  job* newest = oldest;
  while (job* item = items.pop_front()) {
    item->next = newest;
    newest = item;
  }
  push_inbox(newest, oldest);
}

bool completion_thread::impl::is_current() const noexcept { return current() == this; }

void completion_thread::impl::submit(detail::operation& operation) noexcept {
  submitted_.add();
  if (backend_->submit(operation) == submit_answer::completed_inline) {
    completed_.add();
    finish(operation);
  }
}

void completion_thread::impl::cancel(detail::operation& operation) noexcept {
  backend_->cancel(operation);
}

void completion_thread::impl::add_stats(completion_pool_stats& out) const noexcept {
  const std::uint64_t completed = completed_.read();
  const std::uint64_t submitted = submitted_.read();
  out.submitted += submitted;
  out.completed += completed;
  out.in_flight += submitted > completed ? submitted - completed : 0;
  out.batches += batches_.read();
  out.handed_over += handed_over_.read();
  out.items += items_.read();
  out.wakes += wakes_.load(std::memory_order_relaxed);
}

}  // namespace tandem::inline v0::io
