// started_thread.hpp: a thread whose start tells what its set-up has thrown.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tandem::inline v0::io {

/// start() and join() by one thread at a time. It can be started again after its end.
class started_thread {
 public:
  started_thread(std::string name, std::function<void()> set_up, std::function<void()> body)
      : name_(std::move(name)), set_up_(std::move(set_up)), body_(std::move(body)) {}

  /// Waits for the end of `set_up` on the new thread; `body` runs then. pre: joined
  /// @throws  what `set_up` threw; std::system_error if there is no thread
  void start();
  bool is_there() const noexcept { return thread_.joinable(); }
  /// Waits for its end, if it was started.
  void join() noexcept;

 private:
  void run() noexcept;

  const std::string name_;
  const std::function<void()> set_up_;
  const std::function<void()> body_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool ready_ = false;          // guarded by lock_
  std::exception_ptr failure_;  // guarded by lock_
  std::thread thread_;
};

}  // namespace tandem::inline v0::io
