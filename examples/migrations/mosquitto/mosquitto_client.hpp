// mosquitto_client.hpp: libmosquitto, a library that calls back, awaited: an adapter in 100 lines.
// SPDX-License-Identifier: MIT
//
// The library keeps descriptor and time, and is told by a foreign loop when either has come. All of
// it is on the loop's thread. How it is made: io/src/foreign/adapter.md.
#pragma once

#include <map>
#include <tandem/callback_stream.hpp>
#include <tandem/clock.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/io/foreign_loop.hpp>

#include "mosquitto_error.hpp"

namespace migrations {

using mqtt_message = std::pair<std::string, std::string>;  ///< topic and payload

/// One connection. When it is lost all that wait are told why; another client makes another one.
///
/// A stop ends a wait at once. What was asked for may then have reached the broker, as it may when
/// the connection is lost meanwhile; the client is as usable as before.
///
/// @throws         all: std::system_error of mosquitto_category, or of what the system says;
///                 operation_cancelled
/// @thread_safety  tasks that live at the loop's executor
class mosquitto_client {
 public:
  /// After mosquitto_lib_init().
  ///
  /// @param loop  for this client alone, since it has one timer; outlives it
  mosquitto_client(tandem::io::foreign_loop& loop, const char* id)
      : loop_(loop), library_(mosquitto_new(id, true, this)) {
    if (library_ == nullptr) throw std::system_error(errno, std::system_category(), id);
    mosquitto_int_option(library_, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_connect_callback_set(
        library_, [](mosquitto*, void* to, int code) noexcept { self(to).answer(0, -code); });
    mosquitto_disconnect_callback_set(
        library_, [](mosquitto*, void* to, int code) noexcept { self(to).over(lasting(code)); });
    mosquitto_publish_callback_set(
        library_, [](mosquitto*, void* to, int number) noexcept { self(to).answer(number, 0); });
    mosquitto_subscribe_callback_set(
        library_, [](mosquitto*, void* to, int number, int count, const int* granted) noexcept {
          self(to).answer(number, count > 0 && *granted <= 2 ? 0 : MOSQ_ERR_ACL_DENIED);
        });
    mosquitto_message_callback_set(
        library_, [](mosquitto*, void* to, const mosquitto_message* lent) noexcept {
          if (self(to).listener_) self(to).listener_(lent);
        });
  }
  /// Tells the broker, if that can be written at once.
  ~mosquitto_client() {
    mosquitto_disconnect(library_);
    loop_.forget(watched_.first);
    loop_.no_deadline();
    mosquitto_destroy(library_);
  }

  /// Until the broker has accepted it. Once.
  ///
  /// @param address  no name: the library would block until it is found (tandem::io::resolve)
  tandem::task<void> connect(std::string address, int port, int keepalive_seconds) {
    if (keepalive_seconds > 0) keep_time(std::chrono::milliseconds(250) * keepalive_seconds);
    const auto ask = [](auto to, int*, auto... at) { return mosquitto_connect_async(to, at...); };
    co_await answered(1, ask, address.c_str(), port, keepalive_seconds);
  }
  /// Until the broker has acknowledged it; with quality 0, until it has been written.
  tandem::task<void> publish(std::string topic, std::string payload, int quality) {
    co_await answered(quality, mosquitto_publish, topic.c_str(), static_cast<int>(payload.size()),
                      payload.data(), quality, false);
  }
  /// Until the broker has granted it.
  tandem::task<void> subscribe(std::string topic, int quality) {
    co_await answered(1, mosquitto_subscribe, topic.c_str(), quality);
  }
  /// For with_callbacks(): what comes, from before the first subscribe() on. It ends with the
  /// connection. What finds no room is dropped, and counted, or ends it, as the policy says: reading
  /// does not pause, since the same bytes bring acknowledgements, for which whoever reads may wait.
  auto messages(std::size_t capacity, tandem::overflow_policy policy) {
    if (watched_.first < 0) answer_of(MOSQ_ERR_NO_CONN).value();  // throws: it would never end
    const auto listen = [this](auto listener) { listener_ = std::move(listener); };
    return tandem::callback_stream<void(const mosquitto_message*)>(capacity, policy, listen, copy);
  }

 private:
  static mosquitto_client& self(void* data) { return *static_cast<mosquitto_client*>(data); }

  // What is lent is gone when the callback returns. What this throws goes to whoever awaits it.
  static mqtt_message copy(const mosquitto_message* lent) {
    const auto* const bytes = static_cast<const char*>(lent->payload);
    return {lent->topic, std::string(bytes, static_cast<std::size_t>(lent->payloadlen))};
  }

  // The library copies what it is given: nothing is lent, so a stop need not wait for the answer.
  tandem::task<void> answered(int quality, auto ask, auto... given) {
    const auto start = [&](auto done) {
      int number = 0;  // of no message: of the connection
      if (const int code = ask(library_, &number, given...)) return done(lasting(code));
      waiting_.insert_or_assign(number, std::move(done));
      // Its callback came when its number was not known.
      if (quality == 0 && !mosquitto_want_write(library_)) answer(number, 0);
      follow();
    };
    co_await tandem::from_callback<void(int)>(start, answer_of, tandem::abandonable);
  }
  void answer(int number, int code) {
    if (auto waiter = waiting_.extract(number)) waiter.mapped()(code);
  }
  void over(int code) {
    listener_ = nullptr;
    for (auto& [number, done] : std::exchange(waiting_, {})) done(code);
  }

  // After each call that may change it: the library closes its descriptor without a word. Writing is
  // watched only while there is something to write, or the loop would never sleep.
  void follow() {
    const std::pair now(mosquitto_socket(library_), mosquitto_want_write(library_));
    if (now == watched_) return;
    loop_.forget(std::exchange(watched_, now).first);
    if (now.first < 0) return;
    using enum tandem::io::watch_interest;
    loop_.watch(now.first, now.second ? read_write : read, [this](int, auto what) {
      what.writable() ? mosquitto_loop_write(library_, 1) : mosquitto_loop_read(library_, 1);
      follow();
    });
  }
  // A timer comes once. The library counts seconds; a quarter of its limit late is in time.
  void keep_time(std::chrono::milliseconds period) {
    loop_.deadline(tandem::now() + period, [this, period] {
      if (mosquitto_loop_misc(library_) == MOSQ_ERR_SUCCESS) keep_time(period);
      follow();
    });
  }

  tandem::io::foreign_loop& loop_;
  mosquitto* const library_;
  std::pair<int, bool> watched_{-1, false};
  std::map<int, tandem::unique_callback<void(int)>> waiting_;
  std::function<void(const mosquitto_message*)> listener_;
};

}  // namespace migrations
