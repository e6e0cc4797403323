// session_core.hpp: what a session is: one multi handle, what its transfers share, and who is inside.
// SPDX-License-Identifier: MIT
//
// A task that wants something of it goes to its thread, and from there on nothing needs a lock: all
// is one strand's. Its owners may outlive the session, as a core that is closed. Protocol
// curl_session: io/src/curl/README.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <tandem/event.hpp>
#include <tandem/io/curl/session.hpp>
#include <vector>

#include "curl/driver.hpp"
#include "curl/exchange.hpp"
#include "curl/names.hpp"

namespace tandem::inline v0::io::curl {

class session_core final : private driven {
 public:
  using handle = std::shared_ptr<session_core>;
  using exchange_handle = std::shared_ptr<exchange>;

  session_core(foreign_loop& loop, session_options options);
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;

  tandem::executor& home() noexcept { return *home_; }
  session_stats stats() const noexcept;

  // From any thread; they go to the session's.
  static task<response> collect(handle core, request what);
  static task<response> stream(handle core, request what);
  static task<transfer> open(handle core, request what);
  static task<std::size_t> read(handle core, exchange_handle from, std::span<std::byte> room,
                                response& head);
  static task<void> close(handle core, exchange_handle broken_off);
  static task<void> close_or_drop(const handle& core, const exchange_handle& broken_off);
  /// Soon; nothing if the session has ended.
  void drop(exchange_handle broken_off) noexcept;

  // On its thread.
  task<void> begin();
  task<void> serve();
  void stop_serving() noexcept;
  task<void> end();
  /// Whatever happens: nothing of curl is there afterwards.
  void shut() noexcept;

 private:
  class visit;
  class stay;

  static task<void> start(handle core, exchange_handle begun);
  static task<response> head_of(handle core, exchange_handle at);
  static task<response> collected(handle core, exchange_handle at);
  static task<bool> feed(handle core, exchange_handle to, std::span<const std::byte> bytes,
                         bool is_last);
  static task<void> pump(handle core, exchange_handle to);
  static task<response> both_ways(handle core, exchange_handle at);

  void transfer_ended(CURL* easy, CURLcode outcome) noexcept override;
  void all_failed(const std::exception_ptr& why) noexcept override;

  void check_open(const request& what) const;
  task<void> look_up(exchange& transfer, host_name name);
  void add(exchange& begun, std::chrono::milliseconds spent);
  void take_out(exchange& over) noexcept;
  void take_out_dropped() noexcept;
  /// curl does not know it any more.
  void detach(exchange& over) noexcept;
  void list(exchange& begun) noexcept;
  void unlist(exchange& over) noexcept;
  easy_handle new_handle();
  bool reset(CURL* easy) const noexcept;
  task<void> read_cookies();
  task<void> write_cookies();
  [[noreturn]] void refuse_cookie_file(const char* what, const std::exception_ptr& why) const;

  tandem::executor* const home_;
  const session_options options_;
  share_handle share_;
  driver driver_;
  name_cache names_;
  easy_handle cookie_keeper_;
  std::vector<easy_handle> spare_;
  exchange* first_ = nullptr;  // all that have a handle
  std::size_t inside_ = 0;     // tasks that are in the middle of something here
  event nobody_inside_;
  bool is_closing_ = false;
  std::stop_source closing_;  // ends look-ups
  event dropped_some_;
  std::mutex lock_;          // of what follows: any thread
  exchange_handle dropped_;  // linked by exchange::next_dropped
  bool is_shut_ = false;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> names_asked_{0};
};

}  // namespace tandem::inline v0::io::curl
