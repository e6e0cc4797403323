// exception_traces.cpp: takes down the chain where an exception leaves its first coroutine.
// SPDX-License-Identifier: MIT
//
// An exception is known by its object, so whoever keeps a chain keeps the object, too: else another
// one could come to its address. The chain is read on the throwing thread: whoever awaits a frame
// is there as long as the frame is.
#include "insight/exception_traces.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <source_location>

#include <tandem/detail/place_text.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/trace_of.hpp>

#include "frames/exception_hook.hpp"
#include "insight/code_names.hpp"
#include "insight/dump_text.hpp"
#include "process/per_process.hpp"

#if defined(__SANITIZE_THREAD__)
#define TANDEM_SEEN_BY_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TANDEM_SEEN_BY_TSAN
#endif
#endif

namespace tandem::inline v0 {

namespace detail {

namespace {

constexpr std::size_t most_kept = 16;
constexpr std::size_t longest_trace = 64;

struct traced_place {
  const void* code = nullptr;  // null: a task
  const void* address = nullptr;
  std::source_location where;
  std::uint64_t task = 0;
  const char* name = "";  // of the task
};

struct kept_trace {
  std::exception_ptr failure;
  const void* object = nullptr;  // the most derived one; null: no std::exception
  std::vector<traced_place> places;
};

struct all_traces {
  std::mutex lock;
  std::array<kept_trace, most_kept> kept;  // under the lock
  std::size_t next = 0;                    // likewise
  code_names names;                        // likewise
};

// The last coroutines of a process may throw after its statics have gone.
all_traces& traces() {
  static constinit per_process<all_traces> all;
  return all.get();
}

const void* object_of(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& thrown) {
    return dynamic_cast<const void*>(&thrown);
  } catch (...) {
    return nullptr;
  }
}

void add_chain(std::vector<traced_place>& to, promise_base& from) {
  promise_base* each = &from;
  promise_base* last = each;
  for (; each != nullptr && to.size() < longest_trace; each = each->continuation) {
    const void* const address = each->handle().address();
    // Its resume function; of the one that ends g++ has cleared that already, then what destroys it.
    const auto* const functions = static_cast<const void* const*>(address);
    to.push_back(traced_place{functions[0] != nullptr ? functions[0] : functions[1], address,
                              each->awaited_at(), 0, ""});
    last = each;
  }
  if (last->env != nullptr) {
    const environment& task = last->env->task();
    to.push_back(traced_place{nullptr, nullptr, task.spawned_at(), task.id(), task.name()});
  }
}

void note(promise_base& frame) noexcept {
  std::exception_ptr failure = std::current_exception();
  if (is_cancellation(failure)) return;
  std::exception_ptr dropped;  // goes when the lock is free: a destructor may be anything
  try {
    all_traces& all = traces();
    const std::lock_guard hold(all.lock);
    const auto known = std::find_if(all.kept.begin(), all.kept.end(), [&](const kept_trace& each) {
      return each.failure == failure;
    });
    if (known != all.kept.end()) {
      // On its way out through a chain that is known, or, by a join_handle, in another task.
      if (known->places.size() >= longest_trace) return;
      const void* const address = frame.handle().address();
      const bool is_there =
          std::any_of(known->places.begin(), known->places.end(),
                      [&](const traced_place& each) { return each.address == address; });
      if (!is_there) add_chain(known->places, frame);
      return;
    }
    kept_trace& fresh = all.kept[all.next++ % most_kept];
    dropped = std::move(fresh.failure);
    fresh.places.clear();
    fresh.failure = failure;
    fresh.object = object_of(failure);
    add_chain(fresh.places, frame);
  } catch (const std::bad_alloc&) {
    // No memory for a trace: there is none.
  }
}

enum class choice : std::uint8_t { by_build, on, off };
constinit std::atomic<choice> traces_wanted{choice::by_build};

std::vector<traced_frame> named(all_traces& all, const kept_trace& trace) {
  std::vector<traced_frame> out;
  for (const traced_place& each : trace.places) {
    traced_frame& frame = out.emplace_back();
    if (each.code != nullptr) {
      frame.function = all.names.find(each.code).function;
    } else {
      frame.function = task_text(each.task, each.name) + ", spawned in " +
                       function_text(each.where.function_name());
    }
    if (each.where.line() == 0) continue;
    frame.file = each.where.file_name();
    frame.line = static_cast<int>(each.where.line());
  }
  all.names.rest();
  return out;
}

template <class Is>
std::vector<traced_frame> find_trace(Is is) {
  all_traces& all = traces();
  const std::lock_guard hold(all.lock);
  const auto found = std::find_if(all.kept.begin(), all.kept.end(), is);
  return found != all.kept.end() ? named(all, *found) : std::vector<traced_frame>();
}

}  // namespace

void begin_exception_traces() noexcept {
// The last hold on an exception is counted within the standard library, where ThreadSanitizer sees
// nothing: a trace that lets one go would be taken for a race with whoever has read it.
#if TANDEM_ABI_AWAIT_LINES && !defined(TANDEM_SEEN_BY_TSAN)
  // Relaxed: a choice; nothing goes with it.
  if (traces_wanted.load(std::memory_order_relaxed) == choice::by_build)
    exception_hook.store(&note);
#endif
}

}  // namespace detail

void trace_exceptions(bool on) noexcept {
  detail::traces_wanted.store(on ? detail::choice::on : detail::choice::off,
                              std::memory_order_relaxed);
  detail::exception_hook.store(on ? &detail::note : nullptr);
}

std::vector<traced_frame> trace_of(const std::exception_ptr& failure) {
  if (failure == nullptr) return {};
  return detail::find_trace(
      [&](const detail::kept_trace& each) { return each.failure == failure; });
}

std::vector<traced_frame> trace_of(const std::exception& failure) {
  const void* const object = dynamic_cast<const void*>(&failure);
  return detail::find_trace([&](const detail::kept_trace& each) {
    return each.failure != nullptr && each.object == object;
  });
}

std::string to_string(const std::vector<traced_frame>& trace) {
  std::string out;
  for (const traced_frame& each : trace) {
    out += "  " + each.function;
    if (each.line != 0) out += " at " + each.file + ":" + std::to_string(each.line);
    out += "\n";
  }
  return out;
}

}  // namespace tandem::inline v0
