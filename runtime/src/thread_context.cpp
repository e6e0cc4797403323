// thread_context.cpp: the thread-locals of the runtime, and the loop that resumes coroutines.
// SPDX-License-Identifier: MIT
#include <tandem/detail/thread_context.hpp>

#include <utility>

#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0 {

namespace detail {

[[gnu::noinline]] thread_context& this_thread() noexcept {
  static constinit thread_local thread_context context;
  return context;
}

void run_chain(thread_context& context, std::coroutine_handle<> first) noexcept {
  context.next = nullptr;
  std::coroutine_handle<> current = first;
  do {
    current.resume();
    current = std::exchange(context.next, nullptr);
  } while (current);
}

void promise_base::resume_job(job* self) noexcept {
  run_chain(this_thread(), static_cast<promise_base*>(self)->handle());
}

namespace {

// Ids are handed out to threads in blocks, so that a spawn touches no shared line.
constexpr std::uint64_t id_block = 1024;
constinit std::atomic<std::uint64_t> next_id_block{1};

[[gnu::noinline]] std::uint64_t take_task_id() noexcept {
  static constinit thread_local std::uint64_t next = 0;
  static constinit thread_local std::uint64_t end = 0;
  if (next == end) {
    next = next_id_block.fetch_add(id_block, std::memory_order_relaxed);  // uniqueness is enough
    end = next + id_block;
  }
  return next++;
}

}  // namespace

}  // namespace detail

environment* current_environment() noexcept { return detail::this_thread().env; }

void environment::start() noexcept { id_ = detail::take_task_id(); }

void environment::start_below(environment& parent) noexcept {
  runtime_ = parent.runtime_;
  home_ = parent.home_;
  parent_ = &parent;
  name_ = parent.name_;
  spawned_at_ = parent.spawned_at_;
  start();
  stop_.link(parent.stop_);
}

}  // namespace tandem::inline v0
