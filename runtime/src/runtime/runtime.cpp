// runtime.cpp: set-up, live counts, shutdown in order, the public face.
// SPDX-License-Identifier: MIT
#include <tandem/runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include <tandem/cpu_count.hpp>
#include <tandem/detail/failure_text.hpp>
#include <tandem/detail/fork.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>

#include "observe/task_observer.hpp"
#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

/// A blocking call of one of its own tasks may wait for tasks, but not for the end of all of them.
void refuse_inside(const runtime& owner, const char* what_was_tried) {
  const environment* const env = current_environment();
  if (env != nullptr && env->runtime() == &owner) throw would_deadlock(what_was_tried);
}

runtime_options checked(runtime_options options) {
  options.validate();
  if (options.clock && (options.clock->workers() == 0 || options.clock->workers() > 1024)) {
    throw std::invalid_argument("runtime_options::clock asks for " +
                                std::to_string(options.clock->workers()) +
                                " logical workers: it has to be between 1 and 1024");
  }
  if (options.clock && options.submissions.queue == queue_kind::rendezvous) {
    throw std::invalid_argument(
        "runtime_options::submissions.queue is a rendezvous, which needs threads that wait: with a "
        "virtual clock there are none");
  }
  return options;
}

std::unique_ptr<detail::driven_loop> make_loop(runtime& self, const runtime_options& options) {
  if (options.min_threads != 0 && !options.clock) return nullptr;
  return std::make_unique<detail::driven_loop>(self, options.clock);
}

/// With a virtual clock it says how many logical workers there are.
pool_options of_the_pool(const runtime_options& options) {
  pool_options chosen = options;
  if (options.clock) chosen.min_threads = options.clock->workers();
  if (options.clock || options.min_threads == 0) {
    chosen.adaptive.enabled = false;
    chosen.growth = growth_order::demand;
  }
  return chosen;
}

unsigned worker_count(const runtime_options& options) {
  return options.clock ? options.clock->workers() : std::max(1U, options.min_threads);
}

/// For driven_loop: the condition that never comes true, so that time alone ends a run.
bool never(const void* /*of*/) noexcept { return false; }

std::int64_t saturated_ns(std::chrono::steady_clock::time_point from,
                          std::chrono::steady_clock::duration room) noexcept {
  if (room > std::chrono::steady_clock::time_point::max() - from) return platform::no_deadline;
  return (from + room).time_since_epoch().count();
}

}  // namespace

runtime_options::runtime_options() = default;

service::~service() = default;
void service::append_metrics(std::vector<metric_family>& /*out*/) const {}

runtime::impl::impl(runtime& self, runtime_options given)
    : options(checked(std::move(given))),
      observer(detail::task_observer::make(*this, options)),
      loop(make_loop(self, options)),
      pool(self, of_the_pool(options), loop.get()),
      timers(options.clock ? 1U : std::min(16U, worker_count(options)), options.clock.has_value()) {
  if (loop != nullptr) timers.drive_by(loop.get());
}

runtime::impl::~impl() = default;

std::size_t runtime::impl::shard_index() noexcept {
  const int index = current_worker_index();
  if (index >= 0) return static_cast<std::size_t>(index) % shard_count;
  // Threads that are no workers share the last ones, each its own as long as there are few.
  static constinit std::atomic<std::size_t> threads_seen{0};
  static constinit thread_local std::size_t mine = 0;
  if (mine == 0) mine = shard_count - threads_seen.fetch_add(1, std::memory_order_relaxed) % 4;
  return mine - 1;
}

void runtime::impl::task_started() noexcept {
  live_[shard_index()].started.fetch_add(1, std::memory_order_seq_cst);
}

bool runtime::impl::admit_task() noexcept {
  // Counted first (seq_cst), then asked (seq_cst): either shutdown() waits for this task or we see
  // it.
  task_started();
  if (!closing.load(std::memory_order_seq_cst)) return true;
  task_ended();
  return false;
}

void runtime::impl::task_ended() noexcept {
  if (pool.is_current() || detail::this_thread().current_executor == &pool) {
    // Our workers are joined before anything goes away, and whoever runs its own submission
    // (submissions/policy) has counted itself in (parking/visit).
    count_end();
    return;
  }
  ending_.fetch_add(1, std::memory_order_relaxed);  // published by the count
  count_end();
  ending_.fetch_sub(1, std::memory_order_release);  // the last access; pairs with shutdown()
}

void runtime::impl::count_end() noexcept {
  // seq_cst: pairs with drain(): either it sees this end, or we see that it waits.
  live_[shard_index()].ended.fetch_add(1, std::memory_order_seq_cst);
  if (draining_.load(std::memory_order_seq_cst) == 0) [[likely]]
    return;
  drain_signal_.fetch_add(1, std::memory_order_release);
  platform::wake_all(drain_signal_);
  if (loop != nullptr) loop->notify();
  pool.implementation().end_if_drained();
}

std::size_t runtime::impl::live() const noexcept {
  // Ends first, starts after: if they are equal, then at the moment between nothing was alive.
  std::uint64_t ended = 0;
  std::uint64_t started = 0;
  for (const live_shard& shard : live_) ended += shard.ended.load(std::memory_order_seq_cst);
  for (const live_shard& shard : live_) started += shard.started.load(std::memory_order_seq_cst);
  return static_cast<std::size_t>(started - ended);
}

bool runtime::impl::drain(std::int64_t deadline_ns) noexcept {
  draining_.fetch_add(1, std::memory_order_seq_cst);
  bool in_time = true;
  if (loop != nullptr) {
    const detail::driven_loop::condition drained(
        [](const void* self) noexcept { return static_cast<const impl*>(self)->live() == 0; },
        this);
    in_time = loop->run_until(drained, deadline_ns) == detail::driven_loop::ending::done;
  }
  while (loop == nullptr) {
    const std::uint32_t seen = drain_signal_.load(std::memory_order_acquire);
    if (live() == 0) {
      in_time = true;
      break;
    }
    if (!in_time) break;
    in_time = platform::wait_on(drain_signal_, seen, deadline_ns);
  }
  draining_.fetch_sub(1, std::memory_order_relaxed);
  return in_time;
}

void runtime::impl::shutdown() noexcept {
  std::call_once(shut_down_, [this] {
    pool.implementation().close_for_runtime();
    stop_all_roots();
    if (!drain(platform::no_deadline)) report_stalled_shutdown();
    while (ending_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    pool.implementation().reopen();  // submissions/reopen
    const std::size_t count = service_count_.load(std::memory_order_acquire);
    for (std::size_t i = count; i-- > 0;) services_[i].object->stop();
    if (loop != nullptr) (void)loop->run_until_idle();  // late start jobs
    pool.stop();
    if (observer != nullptr) observer->wait_for_visitors();
  });
}

void runtime::impl::report_stalled_shutdown() const noexcept {
  std::fprintf(
      stderr,
      "tandem: a runtime with a virtual clock cannot end: %zu tasks were asked to stop and "
      "wait all the same, and nothing is left that could wake them (seed %llu)\n",
      live(), static_cast<unsigned long long>(loop->seed()));
  std::terminate();
}

stop_state& runtime::impl::root_stop() noexcept { return roots_[shard_index()].stop; }

void runtime::impl::suppressed(const std::exception_ptr& failure) noexcept {
  if (options.on_suppressed_exception) {
    try {
      options.on_suppressed_exception(failure);
      return;
    } catch (...) {
      std::fprintf(stderr, "tandem: runtime_options::on_suppressed_exception has thrown: %s\n",
                   detail::text_of(std::current_exception()));
    }
  }
  std::fprintf(stderr, "tandem: a further failure, after the one that is reported: %s\n",
               detail::text_of(failure));
}

service* runtime::impl::find(const void* key) const noexcept {
  const std::size_t count = service_count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) {
    if (services_[i].key == key) return services_[i].object.get();
  }
  return nullptr;
}

void runtime::impl::append_metrics(std::vector<metric_family>& out) const {
  const std::size_t count = service_count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) services_[i].object->append_metrics(out);
}

void runtime::impl::add(const void* key, std::unique_ptr<service> made) {
  const std::size_t count = service_count_.load(std::memory_order_relaxed);  // under service_lock
  if (count == service_limit) throw std::length_error("a runtime has room for 32 services");
  services_[count].key = key;
  services_[count].object = std::move(made);
  service_count_.store(count + 1, std::memory_order_release);
}

runtime::runtime(runtime_options options)
    : impl_(std::make_unique<impl>(*this, std::move(options))) {
  impl_->series = detail::runtime_begins(*this);
}

runtime::~runtime() {
  if (detail::is_forked(*this)) {
    // Its threads are the parent's; what they own, and its rings, is left as it is.
    detail::keep_forked(*impl_.release());
    return;
  }
  TANDEM_ASSERT(detail::this_thread().current_executor == nullptr,
                "a runtime was destroyed on a thread of a runtime, which cannot wait for itself");
  impl_->shutdown();
  detail::runtime_ends(*this);
  detail::trim_frame_store_for_good();  // nobody of it will
}

worker_pool& runtime::workers() noexcept { return impl_->pool; }
worker_pool& workers() {
  return detail::current_runtime("tandem::workers", "use tandem::runtime::workers")
      .implementation()
      .pool;
}
const runtime_options& runtime::options() const noexcept { return impl_->options; }
std::size_t runtime::live_tasks() const noexcept { return impl_->live(); }

bool runtime::drain(std::chrono::steady_clock::duration timeout) {
  detail::refuse_blocking("runtime::drain");
  refuse_inside(*this, "runtime::drain");
  detail::refuse_if_forked(*this, "runtime::drain");
  return impl_->drain(saturated_ns(impl_->timers.now(), timeout));
}

detail::driven_loop& runtime::impl::driven(const char* what) {
  detail::refuse_blocking(what);
  detail::refuse_if_forked(*pool.owner(), what);
  if (loop != nullptr) return *loop;
  throw std::logic_error(std::string(what) +
                         ": this runtime has threads that run its tasks. Set "
                         "runtime_options::min_threads to 0, or ::clock to a virtual_time, for one "
                         "that its owner runs.");
}

std::size_t runtime::poll(std::size_t most_items) {
  return impl_->driven("runtime::poll").poll(most_items);
}
std::size_t runtime::run_until_idle() {
  return impl_->driven("runtime::run_until_idle").run_until_idle();
}
void runtime::run_for(std::chrono::steady_clock::duration span) {
  detail::driven_loop& loop = impl_->driven("runtime::run_for");
  (void)loop.run_until(detail::driven_loop::condition(&never, nullptr),
                       saturated_ns(impl_->timers.now(), span));
}
int runtime::native_handle() { return impl_->driven("runtime::native_handle").descriptor(); }
std::chrono::steady_clock::time_point runtime::now() const noexcept { return impl_->timers.now(); }

void runtime::shutdown() {
  detail::refuse_blocking("runtime::shutdown");
  refuse_inside(*this, "runtime::shutdown");
  detail::refuse_if_forked(*this, "runtime::shutdown");
  impl_->shutdown();
}

service* runtime::find_service(const void* key) const noexcept { return impl_->find(key); }
std::recursive_mutex& runtime::service_mutex() { return impl_->service_lock; }
void runtime::add_service(const void* key, std::unique_ptr<service> made) {
  impl_->add(key, std::move(made));
}

namespace detail {

timer_service& timers_of(tandem::runtime& owner) noexcept { return owner.implementation().timers; }

tandem::runtime& current_runtime(const char* what, const char* cure) {
  const environment* const env = current_environment();
  if (env == nullptr || env->runtime() == nullptr) {
    refuse_in_forked_task(what);
    throw std::logic_error(
        std::string(what) +
        " was called outside any task, where there is no current runtime: " + cure);
  }
  return *env->runtime();
}

executor& workers_of(tandem::runtime& owner) noexcept { return owner.implementation().pool; }

void refuse_blocking(const char* what_was_tried) {
  const thread_context& context = this_thread();
  if (context.current_executor != nullptr || context.fires_timers)
    throw would_deadlock(what_was_tried);
}

void report_suppressed(const environment& env, const std::exception_ptr& failure) noexcept {
  if (env.stop().stop_requested() && is_cancellation(failure)) return;
  env.runtime()->implementation().suppressed(failure);
}

void unhandled_in_detached(tandem::runtime& owner, const environment& env,
                           const std::exception_ptr& failure) noexcept {
  if (is_forked(owner)) return;  // the parent reports it
  // A handle may outlive its runtime, and then its failure is nobody's but the default's.
  const std::shared_ptr<const runtime_options::exception_handler> handler =
      unhandled_handler_of(owner);
  if (handler != nullptr && *handler) {
    (*handler)(failure);
    return;
  }
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    const std::source_location& where = env.spawned_at();
    std::fprintf(stderr,
                 "tandem: a detached task failed and nobody took its exception: %s\n"
                 "  spawned at %s:%u in %s\n"
                 "  Await its join_handle, or set runtime_options::on_unhandled_exception.\n",
                 detail::text_of(std::current_exception()), where.file_name(), where.line(),
                 where.function_name());
    std::terminate();
  }
}

}  // namespace detail

}  // namespace tandem::inline v0
