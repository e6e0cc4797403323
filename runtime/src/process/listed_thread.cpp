// listed_thread.cpp: the list of the threads that run tasks.
// SPDX-License-Identifier: MIT
#include <tandem/detail/listed_thread.hpp>

#include <mutex>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/thread_context.hpp>

#include "platform/threads.hpp"

namespace tandem::inline v0::detail {

namespace {
constinit futex_mutex list_lock;
constinit listed_thread* first_listed = nullptr;  // under the lock
}  // namespace

listed_thread::listed_thread(const tandem::runtime* owner, const char* role, int number,
                             const own_counter* rests) noexcept
    : context_(this_thread()), previous_(nullptr), rests_(rests) {
  note_.owner = owner;
  note_.role = role;
  note_.number = number;
  note_.thread_id = platform::this_thread_id();
  const std::lock_guard hold(list_lock);
  next_ = first_listed;
  if (next_ != nullptr) next_->previous_ = this;
  first_listed = this;
}

listed_thread::~listed_thread() {
  const std::lock_guard hold(list_lock);
  (previous_ != nullptr ? previous_->next_ : first_listed) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void listed_thread::for_each(look_function look, void* of) noexcept {
  const std::lock_guard hold(list_lock);
  for (const listed_thread* each = first_listed; each != nullptr; each = each->next_) {
    thread_note seen = each->note_;
    seen.env = each->context_.env.get();
    seen.segments = each->context_.next_segment.get() + each->begun_.read();
    if (each->rests_ != nullptr) seen.rests = each->rests_->read();
    look(of, seen);
  }
}

void listed_thread::lock() noexcept { list_lock.lock(); }
void listed_thread::unlock() noexcept { list_lock.unlock(); }
void listed_thread::forget_all() noexcept { first_listed = nullptr; }

}  // namespace tandem::inline v0::detail
