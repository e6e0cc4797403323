// asio_backend.cpp: the backend for hosts without io_uring: readiness from Asio.
// SPDX-License-Identifier: MIT
//
// One io_context a thread. Protocol readiness: io/src/readiness/README.md.
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "asio/asio_watch.hpp"
#include "asio/handler_memory.hpp"
#include "backend/backend.hpp"
#include "readiness/readiness_backend.hpp"

namespace tandem::inline v0::io {

namespace {

using clock = std::chrono::steady_clock;

class asio_poller {
 public:
  static constexpr std::string_view name = "asio";

  explicit asio_poller(registration_table& told)
      : told_(told), work_(context_.get_executor()), timer_(context_.get_executor()) {}
  asio_poller(const asio_poller&) = delete;
  asio_poller& operator=(const asio_poller&) = delete;

  std::unique_ptr<asio_watch> make_registration() {
    return std::make_unique<asio_watch>(context_, memory_, told_);
  }

  void look(bool may_wait, clock::time_point deadline) noexcept {
    if (may_wait) {
      if (set_timer(deadline)) {
        context_.run_one();
      } else {
        context_.run_one_until(deadline);  // without memory: late by a millisecond at most
      }
    }
    // readiness/wake. A wake() before this line has ended the wait; one after it ends poll() or the
    // next wait.
    if (context_.stopped()) context_.restart();
    // What else is ready belongs to this batch. No handler begins a wait, so this ends.
    context_.poll();
  }

  void wake() noexcept { context_.stop(); }

 private:
  class timer_handler {
   public:
    using allocator_type = handler_allocator<void>;
    explicit timer_handler(asio_poller& owner) noexcept : owner_(&owner) {}
    allocator_type get_allocator() const noexcept { return allocator_type(owner_->memory_); }
    void operator()(const asio::error_code& error) const {
      if (!error) owner_->timer_is_set_ = false;  // else it was set anew
    }

   private:
    asio_poller* owner_;
  };

  /// A timer of Asio's rather than a limit of run_one_for(), which is rounded up to milliseconds.
  /// One that is set for an earlier time stays: it costs a round.
  /// @returns  whether it will end the wait, if that has a deadline
  bool set_timer(clock::time_point deadline) noexcept {
    if (deadline == clock::time_point::max()) return true;
    if (timer_is_set_ && timer_.expiry() <= deadline) return true;
    timer_.expires_at(deadline);
    timer_is_set_ = false;
    try {
      timer_.async_wait(timer_handler(*this));
      timer_is_set_ = true;
    } catch (const std::bad_alloc&) {}
    return timer_is_set_;
  }

  registration_table& told_;
  handler_memory memory_;  // first: handlers die with the context
  asio::io_context context_{1};
  asio::executor_work_guard<asio_watch::executor> work_;
  asio::basic_waitable_timer<clock, asio::wait_traits<clock>, asio_watch::executor> timer_;
  bool timer_is_set_ = false;
};

}  // namespace

std::unique_ptr<backend> make_asio_backend(const completion_options&) {
  try {
    return std::make_unique<readiness_backend<asio_poller>>();
  } catch (const std::system_error& refused) {
    throw std::system_error(refused.code().value(), std::generic_category(),
                            "tandem::io: the Asio backend could not be set up (" +
                                std::string(refused.what()) +
                                "). It needs three file descriptors a completion thread: see "
                                "RLIMIT_NOFILE (ulimit -n)");
  }
}

}  // namespace tandem::inline v0::io
