// runtime.cpp: the public face, and what tasks ask of the runtime that they belong to.
// SPDX-License-Identifier: MIT
#include <tandem/runtime.hpp>

#include <cstdio>
#include <ostream>
#include <stdexcept>
#include <utility>

#include <tandem/detail/environment_options.hpp>
#include <tandem/detail/failure_text.hpp>
#include <tandem/detail/foreign_work.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/place_text.hpp>
#include <tandem/detail/report_suppressed.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/trace_of.hpp>

#include "observe/task_observer.hpp"
#include "platform/futex.hpp"
#include "pool/worker_pool_impl.hpp"
#include "process/fork_guard.hpp"
#include "process/suppressed.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

/// A blocking call of one of its own tasks may wait for tasks, but not for the end of all of them.
void refuse_inside(const runtime& owner, const char* what_was_tried) {
  const environment* const env = current_environment();
  if (env != nullptr && env->runtime() == &owner) throw would_deadlock(what_was_tried);
}

/// For driven_loop: the condition that never comes true, so that time alone ends a run.
bool never(const void* /*of*/) noexcept { return false; }

/// The text of a trace goes into a stream.
class stream_sink final : public detail::trace_sink {
 public:
  explicit stream_sink(std::ostream& out) noexcept : out_(out) {}
  void write(std::string_view text) override {
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  std::ostream& out_;
};

std::int64_t saturated_ns(std::chrono::steady_clock::time_point from,
                          std::chrono::steady_clock::duration room) noexcept {
  if (room > std::chrono::steady_clock::time_point::max() - from) return platform::no_deadline;
  return (from + room).time_since_epoch().count();
}

}  // namespace

runtime_options::runtime_options()
    : dump_on_signal(detail::switch_from_environment(
          "TANDEM_DUMP_ON_SIGNAL", !detail::text_from_environment("TANDEM_DUMP", "").empty())),
      dump_path(detail::text_from_environment("TANDEM_DUMP", "")) {}

service::~service() = default;
void service::append_metrics(std::vector<metric_family>& /*out*/) const {}
bool service::awaits_anything() const noexcept { return false; }
void service::for_each_decision(const std::function<void(std::chrono::steady_clock::time_point,
                                                         const pool_decision&)>& /*add*/) const {}

runtime::runtime(runtime_options options)
    : impl_(std::make_unique<impl>(*this, std::move(options))) {
  impl_->series = detail::runtime_begins(*this);
  try {
    detail::begin_insight(*impl_->insight);
  } catch (...) {
    detail::runtime_ends(*this);
    throw;
  }
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
  detail::end_insight(*impl_->insight);
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
pollable_handle runtime::native_handle() {
  return impl_->driven("runtime::native_handle").handle();
}
std::chrono::steady_clock::time_point runtime::now() const noexcept { return impl_->timers.now(); }

void runtime::shutdown() {
  detail::refuse_blocking("runtime::shutdown");
  refuse_inside(*this, "runtime::shutdown");
  detail::refuse_if_forked(*this, "runtime::shutdown");
  impl_->shutdown();
}

runtime_metrics runtime::metrics() const {
  detail::refuse_if_forked(*this, "runtime::metrics");
  runtime_metrics out;
  out.name = impl_->options.name;
  out.series = impl_->series;
  out.when = impl_->timers.now();
  out.workers = impl_->pool.stats();
  out.decisions = impl_->pool.decisions();
  out.decided = impl_->pool.implementation().log.counts();
  out.state = impl_->pool.state();
  out.live_tasks = impl_->live();
  out.timers = impl_->timers.stats();
  if (const detail::task_observer* const observer = impl_->observer.get();
      observer != nullptr && observer->times_tasks()) {
    out.times_tasks = true;
    observer->add_times(out.queue_wait, out.run);
  }
  if (const detail::task_observer* const observer = impl_->observer.get()) {
    out.by_name = observer->counts();
  }
  impl_->services.append_metrics(out.services);
  return out;
}

void runtime::trace_to(std::string path, trace_options options) {
  detail::refuse_if_forked(*this, "runtime::trace_to");
  impl_->start_recording(std::move(path), options);
}

void runtime::stop_trace() noexcept { impl_->recording.stop(); }

void runtime::write_trace() {
  detail::refuse_if_forked(*this, "runtime::write_trace");
  impl_->recording.write_file();
}

void runtime::write_trace(std::ostream& out) {
  detail::refuse_if_forked(*this, "runtime::write_trace");
  stream_sink into(out);
  impl_->recording.write(into);
}

service* runtime::find_service(const void* key) const noexcept { return impl_->services.find(key); }
std::recursive_mutex& runtime::service_mutex() { return impl_->services.lock(); }
void runtime::add_service(const void* key, std::unique_ptr<service> made) {
  impl_->services.add(key, std::move(made));
}

namespace detail {

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
  suppressed(env.runtime()->implementation().options, failure);
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
    std::string place;  // "": no memory
    std::string awaits;
    try {
      place = place_text(env.spawned_at());
      awaits = to_string(trace_of(failure));
      if (!awaits.empty()) awaits = "  It left these coroutines:\n" + awaits;
    } catch (...) {
      awaits.clear();  // no memory: then with less
    }
    std::fprintf(stderr,
                 "tandem: a detached task failed and nobody took its exception: %s\n"
                 "  spawned at %s\n%s"
                 "  Await its join_handle, or set runtime_options::on_unhandled_exception.\n",
                 detail::text_of(std::current_exception()),
                 place.empty() ? env.spawned_at().file_name() : place.c_str(), awaits.c_str());
    std::terminate();
  }
}

void foreign_work_failed(executor& home, const std::exception_ptr& failure) noexcept {
  const std::shared_ptr<const runtime_options::exception_handler> handler =
      unhandled_handler_of(*home.owner());
  if (handler != nullptr && *handler) {
    (*handler)(failure);
    return;
  }
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    const std::string name(home.name());
    std::fprintf(stderr,
                 "tandem: a function that was posted to executor %s by another library has thrown: "
                 "%s\n  Catch it there, or set runtime_options::on_unhandled_exception.\n",
                 name.c_str(), detail::text_of(std::current_exception()));
    std::terminate();
  }
}

}  // namespace detail

}  // namespace tandem::inline v0
