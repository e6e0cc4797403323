// insight.cpp: looks, dumps and advice that somebody asks for.
// SPDX-License-Identifier: MIT
#include "insight/insight.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string_view>

#include <tandem/blocking.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/idle_threads.hpp>

#include "insight/advice.hpp"
#include "insight/dump_text.hpp"
#include "insight/exception_traces.hpp"
#include "insight/signal_dumps.hpp"
#include "insight/snapshot_builder.hpp"
#include "pool/worker_pool_impl.hpp"
#include "recorder/recorder.hpp"
#include "runtime/runtime_impl.hpp"
#include "stop/stop_look.hpp"

namespace tandem::inline v0 {

namespace detail {

namespace {
// Two looks so far apart tell what lasts from what happens to be.
constexpr std::chrono::milliseconds between_looks{200};
// queued/list: so many are taken down under the lock of the lane, in some 10 us.
constexpr std::size_t most_queued = 256;
}  // namespace

insight_slot make_insight(tandem::runtime& owner) { return insight_slot(new insight(owner)); }
void insight_deleter::operator()(insight* ended) const noexcept { delete ended; }
void begin_insight(insight& of) { of.begin(); }
void end_insight(insight& of) noexcept { of.end(); }
std::string describe_waits(insight& of) noexcept { return of.waits(); }
void workers_are_idle(insight& of) noexcept { of.workers_are_idle(); }
void threads_are_idle(tandem::runtime& owner) noexcept {
  owner.implementation().workers_are_idle();
}

void insight::begin() {
  begin_exception_traces();
  if (owner_.options().dump_on_signal) dump_on_signal(*this);
  if (owner_.options().look_every > std::chrono::milliseconds::zero()) start_watcher();
}

snapshot insight::look(std::size_t most_frames, bool groups) {
  runtime::impl& of = owner_.implementation();
  snapshot seen;
  seen.runtime_name = of.series;
  seen.at = std::chrono::system_clock::now();
  const auto began = std::chrono::steady_clock::now();
  seen.now_ns = began.time_since_epoch().count();
  seen.deadline_now_ns = owner_.now().time_since_epoch().count();
  memory_.begin(seen.now_ns);
  snapshot_builder builder(seen, memory_, most_frames, groups);
  of.roots().for_each([&builder](stop_state& top) { stop_look(builder).walk(top); });
  add_queued(builder);
  builder.finish();
  seen.live = of.live();
  std::erase_if(seen.threads, [this](const thread_note& each) { return each.owner != &owner_; });
  std::erase_if(seen.restless,
                [this](const seen_restless& each) { return each.thread.owner != &owner_; });
  for (const thread_note& each : seen.threads) {
    const bool is_executors = std::string_view(each.role) == "thread of an executor";
    if (is_executors && each.rests % 2 == 0) ++seen.busy_executors;
    if (each.env == nullptr) continue;
    const bool is_seen = std::any_of(
        seen.runs.begin(), seen.runs.end(),
        [&each](const seen_run& run) { return run.thread.thread_id == each.thread_id; });
    if (!is_seen) ++seen.unseen_runs;
  }
  add_pools(seen);
  seen.took_ns = (std::chrono::steady_clock::now() - began).count();
  return seen;
}

void insight::add_queued(snapshot_builder& to) const {
  // queued/list
  injection_lane& lane = owner_.implementation().pool.implementation().order.injection();
  std::vector<seen_node> found(std::min(lane.size(), most_queued));
  std::size_t count = 0;
  lane.look(found.size(), [&found, &count](const job& each) noexcept {
    if (const root* const task = root::queued_task(each)) {
      snapshot_builder::describe(found[count++], task->env_block());
    }
  });
  for (std::size_t i = 0; i < count; ++i) to.queued(std::move(found[i]));
}

void insight::add_pools(snapshot& to) const {
  to.timers = timers_of_tasks();
  if (const blocking_pool* const calls = owner_.find_service<blocking_pool>()) {
    const blocking_stats now = calls->stats();
    to.blocking_busy = now.threads - now.idle;
    to.blocking_queued = now.queued;
    to.blocking_most = owner_.options().blocking.max_threads;
    to.blocking = std::to_string(to.blocking_busy) + " of " + std::to_string(to.blocking_most) +
                  " threads for blocking calls are busy, " + std::to_string(now.queued) +
                  (now.queued == 1 ? " call waits" : " calls wait");
  }
}

std::size_t insight::timers_of_tasks() const noexcept {
  runtime::impl& of = owner_.implementation();
  pool_control* const control = of.pool.implementation().control.get();
  const std::size_t own = control != nullptr ? control->timers_of_its_own() : 0;
  const std::size_t armed = of.timers.stats().armed;
  return armed - std::min(armed, own);  // two looks, at about one moment
}

std::string insight::text_of(const snapshot& seen, dump_format format) {
  std::string out =
      format == dump_format::json ? dump_as_json(seen, names_) : dump_as_text(seen, names_);
  names_.rest();
  return out;
}

std::string insight::dump(const dump_options& options) {
  const std::lock_guard lock(lock_);
  return text_of(look(options.most_frames, options.group), options.format);
}

void insight::look_before(std::chrono::milliseconds span) {
  {
    const std::lock_guard lock(lock_);
    (void)look(1, true);
  }
  std::this_thread::sleep_for(span);
}

std::vector<std::string> insight::diagnose(std::chrono::milliseconds during) {
  look_before(during);
  const std::lock_guard lock(lock_);
  std::vector<std::string> advice = advice_of(look(frames_of_advice, true), names_);
  names_.rest();
  return advice;
}

std::string insight::waits() noexcept {
  try {
    const std::lock_guard lock(lock_);
    std::string text = waits_of(look(frames_of_advice, true), names_);
    names_.rest();
    return text;
  } catch (const std::bad_alloc&) {
    return "";
  }
}

void insight::write_dump() noexcept {
  try {
    if (recorder_of(owner_).is_on()) recorder_of(owner_).write_asked_file();
    const std::string& path = owner_.options().dump_path;
    dump_options options;
    if (path.ends_with(".json")) options.format = dump_format::json;
    look_before(between_looks);
    std::string text;
    {
      const std::lock_guard lock(lock_);
      const snapshot seen = look(options.most_frames, options.group);
      text = text_of(seen, options.format);
      const std::vector<std::string> advice = advice_of(seen, names_);
      if (options.format == dump_format::text) {
        text += advice_as_text(advice);
      } else {
        add_advice(text, advice);
      }
      names_.rest();
    }
    std::FILE* const file = path.empty() ? stderr : std::fopen(path.c_str(), "a");
    if (file == nullptr) {
      std::perror(("tandem: the dump cannot be written to " + path).c_str());
      return;
    }
    bool is_written = std::fputs(text.c_str(), file) >= 0 && std::fflush(file) == 0;
    if (file != stderr) is_written = std::fclose(file) == 0 && is_written;
    if (!is_written) std::perror(("tandem: the dump is not whole in " + path).c_str());
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tandem: no dump: %s\n", failure.what());
  }
}

}  // namespace detail

std::string runtime::dump(const dump_options& options) const {
  detail::refuse_if_forked(*this, "runtime::dump");
  return impl_->insight->dump(options);
}

void runtime::dump(std::ostream& out, const dump_options& options) const {
  const std::string text = dump(options);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
}

std::vector<std::string> runtime::diagnose(std::chrono::milliseconds during) const {
  detail::refuse_blocking("runtime::diagnose");
  detail::refuse_if_forked(*this, "runtime::diagnose");
  return impl_->insight->diagnose(during);
}

}  // namespace tandem::inline v0
