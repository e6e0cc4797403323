// runtime.cpp: set-up, live counts, shutdown in order, the public face.
// SPDX-License-Identifier: MIT
#include <tandem/runtime.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>

#include <tandem/cpu_count.hpp>
#include <tandem/detail/environment_options.hpp>
#include <tandem/detail/fork.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>

#include "platform.hpp"
#include "runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

// The runtimes that exist; for failures that nobody took, which are rare.
std::mutex alive_lock;
std::set<const runtime*> alive;

std::string describe(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

std::string name_from_environment() {
  const char* const text = std::getenv("TANDEM_NAME");
  return text != nullptr && *text != '\0' ? text : "tandem";
}

runtime_options checked(runtime_options options) {
  if (options.min_threads == 0 || options.min_threads > 1024) {
    throw std::invalid_argument("runtime_options::min_threads is " +
                                std::to_string(options.min_threads) +
                                ": it has to be between 1 and 1024");
  }
  return options;
}

}  // namespace

runtime_options::runtime_options()
    : min_threads(
          detail::count_from_environment("TANDEM_MIN_THREADS", std::max(2U, usable_cpus()))),
      name(name_from_environment()) {}

service::~service() = default;

runtime::impl::impl(runtime& self, runtime_options given)
    : options(checked(std::move(given))),
      pool(self, options.name, options.min_threads),
      timers(std::min(16U, options.min_threads)) {}

runtime::impl::~impl() = default;

std::size_t runtime::impl::shard_index() noexcept {
  const int index = current_worker_index();
  return index < 0 ? shard_count - 1 : static_cast<std::size_t>(index) % (shard_count - 1);
}

void runtime::impl::task_started() noexcept {
  live_[shard_index()].started.fetch_add(1, std::memory_order_seq_cst);
}

bool runtime::impl::admit_task() noexcept {
  // Counted first (seq_cst), then asked (seq_cst): either shutdown() waits for this task or we see it.
  task_started();
  if (!closing.load(std::memory_order_seq_cst)) return true;
  task_ended();
  return false;
}

void runtime::impl::task_ended() noexcept {
  if (pool.is_current()) {
    count_end();  // our workers are joined before anything goes away
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
  while (true) {
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
    closing.store(true, std::memory_order_seq_cst);  // pairs with admit_task
    for (stop_state& each : roots_) each.request_stop(stop_reason::shutdown);
    drain(platform::no_deadline);
    while (ending_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    const std::size_t count = service_count_.load(std::memory_order_acquire);
    for (std::size_t i = count; i-- > 0;) services_[i].object->stop();
    pool.stop();
  });
}

stop_state& runtime::impl::root_stop() noexcept { return roots_[shard_index()]; }

void runtime::impl::suppressed(const std::exception_ptr& failure) noexcept {
  if (options.on_suppressed_exception) {
    options.on_suppressed_exception(failure);
    return;
  }
  std::fprintf(stderr, "tandem: a further failure, after the one that is reported: %s\n",
               describe(failure).c_str());
}

service* runtime::impl::find(const void* key) const noexcept {
  const std::size_t count = service_count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) {
    if (services_[i].key == key) return services_[i].object.get();
  }
  return nullptr;
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
  const std::lock_guard lock(alive_lock);
  alive.insert(this);
}

runtime::~runtime() {
  TANDEM_ASSERT(detail::this_thread().current_executor == nullptr,
                "a runtime was destroyed on a thread of a runtime, which cannot wait for itself");
  impl_->shutdown();
  const std::lock_guard lock(alive_lock);
  alive.erase(this);
}

worker_pool& runtime::workers() noexcept { return impl_->pool; }
const runtime_options& runtime::options() const noexcept { return impl_->options; }
std::size_t runtime::live_tasks() const noexcept { return impl_->live(); }

bool runtime::drain(std::chrono::steady_clock::duration timeout) {
  detail::refuse_blocking("runtime::drain");
  const auto now = std::chrono::steady_clock::now();
  const bool endless = timeout > std::chrono::steady_clock::time_point::max() - now;
  return impl_->drain(endless ? platform::no_deadline : (now + timeout).time_since_epoch().count());
}

void runtime::shutdown() {
  detail::refuse_blocking("runtime::shutdown");
  impl_->shutdown();
}

service* runtime::find_service(const void* key) const noexcept { return impl_->find(key); }
std::recursive_mutex& runtime::service_mutex() noexcept { return impl_->service_lock; }
void runtime::add_service(const void* key, std::unique_ptr<service> made) {
  impl_->add(key, std::move(made));
}

namespace detail {

unsigned count_from_environment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  unsigned value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stopped != end || value == 0) {
    throw std::invalid_argument(std::string(name) + " is \"" + text +
                                "\": a whole number of at least 1 is needed");
  }
  return value;
}

timer_service& timers_of(tandem::runtime& owner) noexcept { return owner.implementation().timers; }

tandem::runtime& current_runtime(const char* what) {
  const environment* const env = current_environment();
  if (env == nullptr || env->runtime() == nullptr) {
    throw std::logic_error(std::string(what) +
                           " was called outside any task, where there is no current runtime: use "
                           "the member functions of tandem::runtime, or tandem::run");
  }
  return *env->runtime();
}

executor& workers_of(tandem::runtime& owner) noexcept { return owner.implementation().pool; }

void refuse_blocking(const char* what_was_tried) {
  if (this_thread().current_executor != nullptr) throw would_deadlock(what_was_tried);
}

void report_suppressed(const promise_base& failed) noexcept {
  const std::exception_ptr failure = failed.exception();
  try {
    std::rethrow_exception(failure);
  } catch (const operation_cancelled&) {
    if (failed.env->stop().stop_requested()) return;
  } catch (...) {
    // Reported below.
  }
  failed.env->runtime()->implementation().suppressed(failure);
}

void unhandled_in_detached(tandem::runtime& owner, const environment& env,
                           const std::exception_ptr& failure) noexcept {
  runtime_options::exception_handler handler;
  {
    // A handle may outlive its runtime, and then its failure is nobody's but the default's.
    const std::lock_guard lock(alive_lock);
    if (alive.contains(&owner)) handler = owner.options().on_unhandled_exception;
  }
  if (handler) {
    handler(failure);
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
                 describe(std::current_exception()).c_str(), where.file_name(), where.line(),
                 where.function_name());
    std::terminate();
  }
}

}  // namespace detail

}  // namespace tandem::inline v0
