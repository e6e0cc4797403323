// session.hpp: one encrypted connection: its engine, the stream below, and who sends.
// SPDX-License-Identifier: MIT
//
// Protocol tls_sending: io/src/tls/README.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/event.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls/tls_stream.hpp>
#include <tandem/mutex.hpp>
#include <tandem/task.hpp>

#include "tls/engine.hpp"

namespace tandem::inline v0::io::detail {

/// @thread_safety  read() by one task at a time, and what sends by one other; the rest by the owner
class tls_session : public std::enable_shared_from_this<tls_session> {
 public:
  explicit tls_session(any_stream&& below) noexcept : below_(std::move(below)) {}
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;

  /// Before all others. @throws tls::error; std::bad_alloc; std::logic_error outside any task
  void begin(std::shared_ptr<tls_generation> options, const std::string& name, std::string what);
  /// Protocol tls_handshake. @throws tls::error; what the stream below throws; operation_cancelled
  task<void> handshake();

  task<std::size_t> read(std::span<std::byte> buffer);
  task<std::size_t> write(std::span<const std::byte> bytes);
  task<void> write_all(std::span<const std::byte> bytes);
  task<void> write_list(std::span<const std::span<const std::byte>> buffers);
  void shutdown();
  task<bool> finish(std::chrono::steady_clock::duration most);
  void update_keys(bool of_peer_too);
  /// tls_sending/abandon
  void abandon() noexcept;

  tls::session_details details();
  any_stream& below() noexcept { return below_; }

 private:
  using engine_lock = std::lock_guard<tandem::detail::futex_mutex>;
  class turn;
  /// What a step has come to, as far as its caller has to know when the lock is gone.
  class seen;

  seen decrypt(std::span<std::byte> buffer);
  /// Reads once, unless something has come since the transport had so many arrivals. pre: reading_ is
  /// the caller's
  task<void> read_below(std::uint64_t arrivals);
  /// tls_sending/encrypt. pre: it is the caller's turn. @returns nothing; or, in the midst of a message
  /// of the peer's, the arrivals of which it was not enough
  std::optional<std::uint64_t> encrypt(std::span<const std::byte> bytes);
  /// Whoever has the turn waits no more for the rest of a message.
  void write_goes_on() noexcept;
  /// tls_sending/half_message. pre: it is the caller's turn
  task<void> encrypt_later(std::span<const std::byte> bytes);
  /// tls_sending/drain. pre: it is the caller's turn
  task<void> drain();
  /// Whether drain() has anything to do: most writes find nothing left over. pre: as drain()
  bool has_to_drain() noexcept;
  /// Whether the engine has made what nobody has taken to send yet.
  bool has_output() noexcept;
  void drop_output() noexcept;
  /// pre: it is the caller's turn. @returns whether something that was taken is not sent yet
  bool has_rest() const noexcept;
  /// tls_sending/hand_on. @returns whether there is output, and the turn is the caller's again
  bool ends_turn() noexcept;
  /// tls_sending/offer
  void offer() noexcept;
  /// pre: it is the caller's turn, which goes to the task that is started
  void start_background() noexcept;
  static task<void> send_in_background(std::shared_ptr<tls_session> self, std::stop_token token);
  task<bool> say_goodbyes();

  any_stream below_;
  executor* workers_ = nullptr;
  tandem::detail::futex_mutex lock_;  // of the next two; never held across an await
  std::optional<tls_engine> engine_;
  std::stop_source abandoned_{std::nostopstate};  // made when a task first sends by itself
  bool has_peer_ended_ = false;                   // of the task that reads
  std::size_t read_in_a_row_ = 0;                 // likewise: bytes, since it last waited

  mutex reading_;               // the right to read from the stream below
  event no_write_waits_{true};  // tls_sending/go_on; of whoever has the turn, reset under lock_
  mutex turn_;
  record_room sending_;              // of whoever has the turn
  std::size_t sent_ = 0;             // likewise: of sending_
  std::size_t sent_in_a_row_ = 0;    // likewise: bytes, since it last let others run
  std::exception_ptr send_failure_;  // likewise; once there is one, it stays
};

}  // namespace tandem::inline v0::io::detail
