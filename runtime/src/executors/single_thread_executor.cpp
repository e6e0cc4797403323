// single_thread_executor.cpp: the thread, its sleep and its end. Protocol own_thread: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/single_thread_executor.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/listed_thread.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>

#include "executors/job_inbox.hpp"
#include "frames/idle_wait.hpp"
#include "platform/futex.hpp"
#include "platform/threads.hpp"
#include "process/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

/// The job is the last one that the thread runs but for what is posted behind it
/// (own_thread/last_job).
class single_thread_executor::impl final : public detail::left_to_parent, private job {
 public:
  impl(single_thread_executor& self, tandem::runtime& owner, std::string name)
      : job(&impl::run_last), self_(self), owner_(owner), name_(std::move(name)) {
    detail::refuse_if_forked(owner_, "single_thread_executor");
    thread_ = platform::start_thread(name_.c_str(), [this] { work(); });
  }

  tandem::runtime& owner() const noexcept { return owner_; }
  const std::string& name() const noexcept { return name_; }

  void post(job_list& items) noexcept {
    detail::refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
    for (std::size_t i = items.size(); i > 0; --i)
      detail::hold_clock(owner_);  // driving/clock: until it has run
    if (inbox_.push(items)) call_thread();
  }

  bool begin_task() noexcept {
    std::uint64_t seen = tasks_.load(std::memory_order_relaxed);
    do {
      if ((seen & closed_bit) != 0) return false;
      // Relaxed: what a task does is ordered by its posts.
    } while (!tasks_.compare_exchange_weak(seen, seen + one_task, std::memory_order_relaxed));
    return true;
  }
  void end_task() noexcept {
    // own_thread/count. acq_rel: the end comes after all that the tasks have done.
    if (tasks_.fetch_sub(one_task, std::memory_order_acq_rel) == (one_task | closed_bit))
      post_last();
  }
  void close() noexcept {
    // own_thread/count
    if (tasks_.fetch_or(closed_bit, std::memory_order_acq_rel) == 0) post_last();
  }
  /// pre: not on its own thread
  void join() noexcept;

 private:
  static constexpr std::uint64_t closed_bit = 1;
  static constexpr std::uint64_t one_task = 2;

  /// own_thread/post. The caller has taken the mark: until it has called, the thread stays where it
  /// is.
  void call_thread() noexcept {
    if (ended_) report_late_post();
    signal_.store(1, std::memory_order_release);  // pairs with sleep()
    platform::wake_one(signal_);
  }
  void post_last() noexcept {
    detail::hold_clock(owner_);
    if (inbox_.push(this)) call_thread();
  }
  static void run_last(job* self) noexcept {
    auto& own = *static_cast<impl*>(self);
    own.stopping_ = true;
    own.drained_.store(true, std::memory_order_release);  // pairs with join()
    if (detail::driven_loop* const loop = own.owner_.implementation().loop.get()) loop->notify();
  }

  void wait_until_drained() noexcept;
  void work() noexcept;
  void run_all(detail::thread_context& context, job* oldest) noexcept;
  void sleep() noexcept;
  [[noreturn]] void report_late_post() const noexcept;

  single_thread_executor& self_;
  tandem::runtime& owner_;
  const std::string name_;
  bool stopping_ = false;      // the thread's
  detail::own_counter rests_;  // likewise: see listed_thread
  // Written before the last mark (own_thread/last_job), read by whoever takes it
  bool ended_ = false;
  std::mutex joining_;
  std::thread thread_;  // guarded by joining_
  alignas(64) detail::job_inbox inbox_;
  std::atomic<std::uint32_t> signal_{0};  // 1: the thread was called
  alignas(64) std::atomic<std::uint64_t> tasks_{0};
  std::atomic<bool> drained_{false};  // nothing more is to come
};

void single_thread_executor::impl::work() noexcept {
  detail::thread_context& context = detail::this_thread();
  context.current_executor = &self_;
  const detail::listed_thread here(&owner_, "thread of an executor", -1, &rests_);
  sleep();  // as which it begins
  while (true) {
    if (job* const oldest = inbox_.take()) {  // own_thread/run
      run_all(context, oldest);
      continue;
    }
    if (stopping_) ended_ = true;
    if (!inbox_.sleep()) {
      ended_ = false;
      continue;
    }
    if (stopping_) break;
    sleep();
  }
  context.current_executor = nullptr;
}

void single_thread_executor::impl::run_all(detail::thread_context& context, job* oldest) noexcept {
  while (oldest != nullptr) {
    job* const item = oldest;
    oldest = std::exchange(item->next, nullptr);
    context.env = item->env;
    context.budget = detail::await_budget;
    item->run(item);
    if (context.current_executor == nullptr) [[unlikely]]
      detail::end_forked_child();
    context.env = nullptr;
    detail::release_clock(owner_);
  }
}

void single_thread_executor::impl::sleep() noexcept {
  detail::frame_idle spell;
  // With a virtual clock nothing happens by the real one.
  if (!owner_.implementation().timers.is_virtual()) {
    spell.begin(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  // own_thread/sleep. acquire, twice: pairs with call_thread().
  const auto is_called = [this] { return signal_.load(std::memory_order_acquire) != 0; };
  rests_.add();  // odd: it rests
  while (!is_called()) {
    (void)detail::lie_on(spell, signal_, 0, platform::no_deadline, [] { return true; });
  }
  rests_.add();
  signal_.store(0, std::memory_order_relaxed);  // the next call is ordered by the inbox
}

void single_thread_executor::impl::join() noexcept {
  close();
  wait_until_drained();
  // own_thread/join. Whoever comes second waits for the first one, and thus for the thread.
  const std::lock_guard one_at_a_time(joining_);
  if (thread_.joinable()) thread_.join();
}

void single_thread_executor::impl::wait_until_drained() noexcept {
  detail::driven_loop* const loop = owner_.implementation().loop.get();
  if (loop == nullptr || detail::this_thread().current_executor != nullptr) return;
  // Its tasks may wait for others, which run only if we run them.
  const detail::driven_loop::condition drained(
      [](const void* self) noexcept {
        return static_cast<const impl*>(self)->drained_.load(std::memory_order_acquire);
      },
      this);
  if (drained()) return;  // a second join, perhaps after the runtime's shutdown
  if (loop->run_until(drained, platform::no_deadline) == detail::driven_loop::ending::done) return;
  std::fprintf(stderr,
               "tandem: executor %s cannot end: tasks that were spawned on it wait, and nothing "
               "is left that could wake them (seed %llu)\n",
               name_.c_str(), static_cast<unsigned long long>(loop->seed()));
  std::terminate();
}

void single_thread_executor::impl::report_late_post() const noexcept {
  std::fprintf(
      stderr,
      "tandem: a job was posted to executor %s after its end, so it can never run: a task that "
      "moved there by resume_on() has outlived it. Spawn the task there, or let it end first.\n",
      name_.c_str());
  std::terminate();
}

single_thread_executor::single_thread_executor(tandem::runtime& owner, std::string name)
    : executor(counting_tasks()), impl_(std::make_unique<impl>(*this, owner, std::move(name))) {
  set_serial();
}

single_thread_executor::~single_thread_executor() {
  if (detail::is_forked(impl_->owner())) {
    detail::keep_forked(*impl_.release());  // the thread is the parent's
    return;
  }
  TANDEM_ASSERT(!is_current(), "a single_thread_executor was destroyed by a task that runs on it");
  impl_->join();
}

void single_thread_executor::post(job* item, post_kind /*kind*/) noexcept {
  job_list one;
  one.push_back(item);
  impl_->post(one);
}
void single_thread_executor::post_batch(job_list items, post_kind /*kind*/) noexcept {
  if (!items.empty()) impl_->post(items);
}
bool single_thread_executor::is_current() const noexcept {
  return detail::this_thread().current_executor == this;
}
runtime* single_thread_executor::owner() const noexcept { return &impl_->owner(); }
std::string_view single_thread_executor::name() const noexcept { return impl_->name(); }
bool single_thread_executor::begin_task() noexcept { return impl_->begin_task(); }
void single_thread_executor::end_task() noexcept { impl_->end_task(); }
void single_thread_executor::close() noexcept { impl_->close(); }
void single_thread_executor::join() {
  if (is_current()) throw would_deadlock("single_thread_executor::join");
  detail::refuse_if_forked(impl_->owner(), "single_thread_executor::join");
  impl_->join();
}

}  // namespace tandem::inline v0
