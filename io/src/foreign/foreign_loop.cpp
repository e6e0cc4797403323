// foreign_loop.cpp: watches and the deadline of a library that calls back.
// SPDX-License-Identifier: MIT
//
// Protocol foreign_loop: io/src/foreign/README.md.
#include <tandem/io/foreign_loop.hpp>

#include <array>
#include <coroutine>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/detail/report_suppressed.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/bound_place.hpp>
#include <tandem/io/detail/operation.hpp>
#include <tandem/sleep.hpp>
#include <unordered_map>

#include "engine/completion_thread.hpp"
#include "foreign/loop_child.hpp"
#include "platform/attempt.hpp"
#include "platform/descriptor.hpp"

namespace tandem::inline v0::io {

namespace {

/// One wait for readiness, on the loop's own thread whoever hosts that.
class ready_wait {
 public:
  using tandem_awaiter = void;

  /// @param here  where the operation can be found while it is under way
  ready_wait(completion_thread& thread, native_descriptor descriptor, detail::operation_kind kind,
             detail::operation*& here) noexcept
      : here_(&here), operation_(kind, nullptr, 0) {
    operation_.aim(&thread, descriptor);
  }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    *here_ = &operation_;
    return operation_.start(self.promise());
  }
  std::int32_t await_resume() const noexcept {
    *here_ = nullptr;
    return operation_.outcome();
  }

 private:
  detail::operation** here_;
  detail::operation operation_;
};

class all_ended {
 public:
  using tandem_awaiter = void;

  explicit all_ended(loop_children& all) noexcept : all_(&all) {}
  bool await_ready() const noexcept { return all_->empty(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    all_->wait(self.promise());
  }
  void await_resume() const noexcept {}

 private:
  loop_children* all_;
};

/// One direction that somebody waits for.
class watched_side {
 public:
  loop_child child;
  detail::operation* waits = nullptr;
};

/// One generation of a watched number: replaced, it is dead for good.
class watched {
 public:
  watched(native_descriptor number, std::shared_ptr<foreign_loop::ready_function> function) noexcept
      : descriptor(number), on_ready(std::move(function)) {}

  const native_descriptor descriptor;
  const std::shared_ptr<foreign_loop::ready_function> on_ready;
  bool is_live = true;
  watched_side read;
  watched_side write;
};

class timed {
 public:
  timed(std::chrono::steady_clock::time_point time, foreign_loop::time_function function) noexcept
      : when(time), on_time(std::move(function)) {}

  const std::chrono::steady_clock::time_point when;
  const foreign_loop::time_function on_time;
  bool is_live = true;
  loop_child wait;
};

}  // namespace

class foreign_loop::impl {
 public:
  impl(completion_thread& thread, environment& parent)
      : thread_(thread), place_(thread), parent_(parent) {
    place_.settle();
  }
  ~impl() {
    TANDEM_ASSERT(children_.empty(), "a foreign_loop was destroyed before its end was awaited");
  }

  tandem::executor& executor() noexcept { return thread_.executor(); }
  void begin(task_scope& body) noexcept { body_ = &body; }

  void watch(native_descriptor descriptor, watch_interest interest, ready_function on_ready) {
    check("watch");
    if (!on_ready) {
      throw std::invalid_argument(
          "foreign_loop::watch: on_ready is empty. Give it a function, or watch(fd, interest) to "
          "keep the one that is there");
    }
    place_watch(descriptor, interest, std::make_shared<ready_function>(std::move(on_ready)));
  }
  void watch(native_descriptor descriptor, watch_interest interest) {
    check("watch");
    const auto found = watches_.find(descriptor);
    if (found == watches_.end()) {
      throw std::invalid_argument("foreign_loop::watch: descriptor " + std::to_string(descriptor) +
                                  " is not watched, so it has no on_ready that could stay. Give "
                                  "one: watch(fd, interest, on_ready)");
    }
    place_watch(descriptor, interest, found->second->on_ready);
  }

  void forget(native_descriptor descriptor) {
    check_thread("forget");
    const auto found = watches_.find(descriptor);
    if (found == watches_.end()) return;
    const std::shared_ptr<watched> gone = std::move(found->second);
    watches_.erase(found);
    retire(*gone);
  }

  void deadline(std::chrono::steady_clock::time_point when, time_function on_time) {
    check("deadline");
    if (!on_time) {
      throw std::invalid_argument(
          "foreign_loop::deadline: on_time is empty. Give it a function, or call no_deadline() to "
          "have none");
    }
    auto next = std::make_shared<timed>(when, std::move(on_time));
    task<void> waits = wait_until(*next);
    retire(std::exchange(deadline_, next));
    next->wait.start(std::move(waits), next, children_, parent_, executor());
  }
  void no_deadline() {
    check_thread("no_deadline");
    retire(std::exchange(deadline_, nullptr));
  }

  task<void> end() {
    is_over_ = true;
    body_ = nullptr;
    retire(std::exchange(deadline_, nullptr));
    const auto gone = std::exchange(watches_, {});
    for (const auto& [descriptor, each] : gone) retire(*each);
    co_await all_ended(children_);
  }
  void conclude(const std::exception_ptr& of_body) {
    if (failure_ == nullptr) return;
    // A cancellation is what the failure has brought about.
    if (of_body != nullptr && !tandem::detail::is_cancellation(of_body)) {
      tandem::detail::report_suppressed(parent_, of_body);
    }
    std::rethrow_exception(failure_);
  }

 private:
  static constexpr detail::operation_kind readable = detail::operation_kind::wait_readable;
  static constexpr detail::operation_kind writable = detail::operation_kind::wait_writable;

  void check_thread(const char* what) const {
    if (thread_.implementation().is_current()) return;
    throw std::logic_error("foreign_loop::" + std::string(what) +
                           ": called on another thread than the loop's. Go there first: co_await "
                           "tandem::resume_on(loop.executor())");
  }
  void check(const char* what) const {
    check_thread(what);
    if (!is_over_) return;
    throw std::logic_error("foreign_loop::" + std::string(what) +
                           ": the body of with_foreign_loop has ended, and the loop with it. Let "
                           "the library end inside of the body");
  }

  // foreign_loop/watch
  void place_watch(native_descriptor descriptor, watch_interest interest,
                   std::shared_ptr<ready_function> on_ready) {
    if (!platform::is_open(descriptor)) {
      throw std::system_error(
          std::make_error_code(std::errc::bad_file_descriptor),
          "foreign_loop::watch: descriptor " + std::to_string(descriptor) +
              " is not open. Watch it while it is; of one that was closed tell forget(fd)");
    }
    auto next = std::make_shared<watched>(descriptor, std::move(on_ready));
    const bool reads = includes(interest, watch_interest::read);
    const bool writes = includes(interest, watch_interest::write);
    task<void> read = reads ? wait_for(*next, next->read, readable) : task<void>();
    task<void> write = writes ? wait_for(*next, next->write, writable) : task<void>();
    std::shared_ptr<watched>& place = watches_[descriptor];
    const std::shared_ptr<watched> gone = std::exchange(place, next);
    // Nothing throws from here on.
    if (gone != nullptr) retire(*gone);
    if (reads) next->read.child.start(std::move(read), next, children_, parent_, executor());
    if (writes) next->write.child.start(std::move(write), next, children_, parent_, executor());
  }

  // foreign_loop/retire
  void retire(watched& gone) noexcept {
    gone.is_live = false;
    for (detail::operation* const waits : {gone.read.waits, gone.write.waits}) {
      if (waits == nullptr) continue;
      // Not by a stop, whose request would have its turn behind others: the next to ask may mean
      // another descriptor of that number.
      waits->cancel_seen = true;
      if (waits->state == detail::operation::phase::submitted) {
        thread_.implementation().cancel(*waits);
      }
    }
  }
  static void retire(const std::shared_ptr<timed>& gone) noexcept {
    if (gone == nullptr) return;
    gone->is_live = false;
    gone->wait.stop();
  }

  // foreign_loop/wait
  task<void> wait_for(watched& at, watched_side& side, detail::operation_kind way) {
    while (at.is_live) {
      const std::int32_t outcome = co_await ready_wait(thread_, at.descriptor, way, side.waits);
      if (!at.is_live) co_return;  // foreign_loop/check
      if (outcome < 0) {
        retire(at);  // foreign_loop/refused. It stays, as one that is paused
        call(at, ready_events(false, false, true, false));
        co_return;
      }
      call(at, platform::events_of(outcome));
    }
  }
  void call(watched& at, ready_events events) noexcept {
    try {
      (*at.on_ready)(at.descriptor, events);
    } catch (...) {
      drop(at);
      fail(std::current_exception());
    }
  }
  void drop(watched& at) noexcept {
    retire(at);
    const auto found = watches_.find(at.descriptor);
    if (found != watches_.end() && found->second.get() == &at) watches_.erase(found);
  }

  // foreign_loop/deadline
  task<void> wait_until(timed& at) {
    const result<void> waited = co_await as_result(sleep_until(at.when));
    if (!at.is_live) co_return;
    at.is_live = false;
    deadline_ = nullptr;  // it is this one, which its wait keeps
    try {
      if (!waited) std::rethrow_exception(waited.exception());  // there are no timers
      at.on_time();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // foreign_loop/fail
  void fail(std::exception_ptr failure) noexcept {
    if (failure_ != nullptr) return tandem::detail::report_suppressed(parent_, failure);
    failure_ = std::move(failure);
    if (body_ != nullptr) body_->request_stop(stop_reason::sibling_failed);
  }

  completion_thread& thread_;
  detail::bound_place place_;  // counted as one of its sockets
  environment& parent_;
  task_scope* body_ = nullptr;
  bool is_over_ = false;
  std::unordered_map<native_descriptor, std::shared_ptr<watched>> watches_;
  std::shared_ptr<timed> deadline_;
  loop_children children_;
  std::exception_ptr failure_;
};

namespace {

constexpr const char* maker = "tandem::io::with_foreign_loop";

completion_thread& chosen(completion_thread* where) {
  completion_pool& pool = current_completion_pool(maker);
  if (where == nullptr) {
    return pool.thread_for(*tandem::detail::this_thread().current_executor);
  }
  if (&where->implementation().pool() != &pool) {
    throw std::invalid_argument(std::string(maker) +
                                ": that completion thread belongs to another runtime. Take one of "
                                "current_completion_pool()");
  }
  return *where;
}

}  // namespace

foreign_loop::foreign_loop(completion_thread* where) {
  completion_thread& thread = chosen(where);  // first: outside any task it throws
  impl_ = std::make_unique<impl>(thread, *current_environment());
}
foreign_loop::~foreign_loop() = default;

void foreign_loop::watch(native_descriptor descriptor, watch_interest interest,
                         ready_function on_ready) {
  impl_->watch(descriptor, interest, std::move(on_ready));
}
void foreign_loop::watch(native_descriptor descriptor, watch_interest interest) {
  impl_->watch(descriptor, interest);
}
void foreign_loop::forget(native_descriptor descriptor) { impl_->forget(descriptor); }
void foreign_loop::deadline(std::chrono::steady_clock::time_point when, time_function on_time) {
  impl_->deadline(when, std::move(on_time));
}
void foreign_loop::no_deadline() { impl_->no_deadline(); }
tandem::executor& foreign_loop::executor() noexcept { return impl_->executor(); }
void foreign_loop::begin(task_scope& body) noexcept { impl_->begin(body); }
task<void> foreign_loop::end() { return impl_->end(); }
void foreign_loop::conclude(const std::exception_ptr& of_body) { impl_->conclude(of_body); }

}  // namespace tandem::inline v0::io
