// driver.hpp: curl's multi handle on a foreign loop: its sockets, its timer, and who has ended.
// SPDX-License-Identifier: MIT
//
// All of it on the loop's thread. curl's callbacks only note what it wants; what has to be asked of
// the loop is done when curl has returned (settle), so that nothing throws through curl, and what
// curl takes back in the same call costs nothing. Protocol curl_session: io/src/curl/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <tandem/io/foreign_loop.hpp>
#include <unordered_map>
#include <vector>

#include "curl/library.hpp"

namespace tandem::inline v0::io::curl {

/// What a driver tells of: a transfer that curl has ended, or that nothing goes on any more.
class driven {
 public:
  virtual void transfer_ended(CURL* easy, CURLcode outcome) noexcept = 0;
  virtual void all_failed(const std::exception_ptr& why) noexcept = 0;

 protected:
  ~driven() = default;
};

class driver {
 public:
  using clock = std::chrono::steady_clock;

  driver(foreign_loop& loop, driven& told);
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  CURLM* multi() noexcept { return multi_.get(); }
  /// Of an easy handle: its connections' sockets are known here. @returns false if curl refuses
  bool adopt(CURL* easy) noexcept;
  /// curl_session/settle. After each call of curl that may change what it waits for.
  void settle() noexcept;
  /// Closes all connections. No easy handle may be left.
  void end() noexcept;
  /// curl had no memory for a table of its own. What it leaves there (7.88: an entry without a size,
  /// by which the next one divides) nothing may use any more.
  bool is_spoilt() const noexcept { return is_spoilt_; }
  /// Another multi handle, without connections and options; if there is no memory for it, none,
  /// and each transfer is refused. pre: no transfer is added
  void renew() noexcept;

  std::uint64_t opened() const noexcept { return opened_.load(std::memory_order_relaxed); }
  std::uint64_t wake_ups() const noexcept { return wake_ups_.load(std::memory_order_relaxed); }

 private:
  void set_callbacks() noexcept;
  class watched {
   public:
    watch_interest wanted = watch_interest::none;  // what curl has asked for last
    watch_interest armed = watch_interest::none;   // what the loop was asked for
    bool is_watched = false;                       // the loop has a callback
    bool is_connection = false;  // made by curl for a connection: we hear when it is closed
    bool is_noted = false;       // in changed_
  };

  static int on_socket(CURL* easy, curl_socket_t number, int what, void* self, void* at) noexcept;
  static int on_timer(CURLM* multi, long milliseconds, void* self) noexcept;
  static int on_opened(void* self, curl_socket_t number, curlsocktype kind) noexcept;
  static int on_close(void* self, curl_socket_t number) noexcept;

  void note(curl_socket_t number, watched& at);
  void forget(curl_socket_t number) noexcept;
  void ready(native_descriptor number, ready_events events) noexcept;
  void arm_again(curl_socket_t number) noexcept;
  void time_has_come() noexcept;
  void act(curl_socket_t number, int events) noexcept;
  void collect() noexcept;
  void arm_sockets();
  void arm_timer();
  void arm(curl_socket_t number, watched& at);

  foreign_loop& loop_;
  driven& told_;
  multi_handle multi_;
  std::unordered_map<curl_socket_t, watched> sockets_;
  std::vector<curl_socket_t> changed_;
  bool is_due_ = false;  // curl wants to be called at once
  bool is_spoilt_ = false;
  std::optional<clock::time_point> wanted_;  // or at that time
  std::optional<clock::time_point> armed_;   // the loop's deadline
  std::exception_ptr broken_;             // a callback had no memory: nobody may rely on anything
  std::atomic<std::uint64_t> opened_{0};  // written here, read by stats()
  std::atomic<std::uint64_t> wake_ups_{0};
};

}  // namespace tandem::inline v0::io::curl
