// cancel_threads.cpp: a few threads that live as long as there is something to cancel.
// SPDX-License-Identifier: MIT
#include "postgres/cancel_threads.hpp"

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace tandem::inline v0::io::postgres::detail {

namespace {

struct request_freed {
  void operator()(PGcancel* of) const noexcept { PQfreeCancel(of); }
};

class cancel_request {
 public:
  cancel_request(PGconn* of, callback<void()> told)
      : request_(PQgetCancel(of)), told_(std::move(told)) {
    if (request_ == nullptr) throw std::bad_alloc();
  }

  void send() const noexcept {
    std::array<char, 256> why;
    (void)PQcancel(request_.get(), why.data(), static_cast<int>(why.size()));
    told_();  // if nobody waits any more it does nothing
  }

 private:
  std::unique_ptr<PGcancel, request_freed> request_;
  callback<void()> told_;
};

/// Never destroyed: its threads may outlive all that ends with the process.
class cancel_threads {
 public:
  void add(cancel_request added) {
    const std::lock_guard locked(lock_);
    waiting_.push_back(std::move(added));
    if (threads_ == most) return;
    try {
      std::thread([this] { run(); }).detach();
      ++threads_;
    } catch (...) {
      if (threads_ != 0) return;  // one of them comes to it
      waiting_.pop_back();
      throw;
    }
  }

 private:
  static constexpr unsigned most = 32;

  void run() noexcept {
    std::unique_lock locked(lock_);
    while (!waiting_.empty()) {
      {
        const cancel_request next = std::move(waiting_.front());
        waiting_.pop_front();
        locked.unlock();
        next.send();
      }
      locked.lock();
    }
    --threads_;  // with the lock: whoever adds something finds it gone
  }

  std::mutex lock_;  // guards what follows
  std::deque<cancel_request> waiting_;
  unsigned threads_ = 0;
};

}  // namespace

void cancel_on_a_thread(PGconn* of, callback<void()> told) {
  static auto& threads = *new cancel_threads;
  threads.add(cancel_request(of, std::move(told)));
}

}  // namespace tandem::inline v0::io::postgres::detail
