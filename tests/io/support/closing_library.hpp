// closing_library.hpp: a client as C libraries are, of callbacks alone; it closes a descriptor before it tells.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "plain_sockets.hpp"

namespace tandem::test {

/// Sends a text to a server on this machine and collects what comes back until the server ends.
/// Its user gets two functions: which descriptor it waits for, and until when (as curl's multi
/// interface has them).
class closing_library {
 public:
  enum what : std::uint8_t { nothing = 0, in = 1, out = 2, removed = 4 };
  using clock = std::chrono::steady_clock;
  using ended = std::function<void(int error, std::string reply)>;

  /// From its user.
  std::function<void(plain_socket descriptor, what wanted)> socket_function;
  std::function<void(clock::time_point until)> timer_function;

  closing_library() = default;
  closing_library(const closing_library&) = delete;
  closing_library& operator=(const closing_library&) = delete;
  ~closing_library() {
    while (!transfers_.empty()) end(transfers_.begin(), ECANCELED);
  }

  void fetch(std::uint16_t port, std::string text, clock::time_point until, ended then) {
    const plain_socket descriptor = open_plain(socket_kind::stream_v4, false);
    const std::errc answer = connect_plain(descriptor, port);
    const auto at = transfers_.emplace(descriptor, transfer{std::move(text), "", until, {}}).first;
    at->second.then = std::move(then);
    if (answer != std::errc{} && answer != std::errc::operation_in_progress) {
      return end(at, static_cast<int>(answer));
    }
    socket_function(descriptor, out);
    set_timer();
  }

  void can_write(plain_socket descriptor) {
    const auto at = transfers_.find(descriptor);
    if (at == transfers_.end()) return;
    transfer& of = at->second;
    const std::ptrdiff_t sent = send_plain(descriptor, of.text.data(), of.text.size());
    if (sent < 0) return fail(at);
    of.text.erase(0, static_cast<std::size_t>(sent));
    if (!of.text.empty()) return;
    end_writing(descriptor);
    socket_function(descriptor, in);
  }
  void can_read(plain_socket descriptor) {
    const auto at = transfers_.find(descriptor);
    if (at == transfers_.end()) return;
    std::array<char, 16> part;  // small, so that it is told again
    const std::ptrdiff_t got = receive_plain(descriptor, part.data(), part.size());
    if (got < 0) return fail(at);
    if (got == 0) return end(at, 0);
    at->second.reply.append(part.data(), static_cast<std::size_t>(got));
  }
  void time_has_come(clock::time_point now) {
    for (auto at = transfers_.begin(); at != transfers_.end();) {
      const auto each = at++;
      if (each->second.until <= now) end(each, ETIMEDOUT);
    }
    set_timer();
  }
  std::size_t closed() const noexcept { return closed_; }

 private:
  struct transfer {
    std::string text;
    std::string reply;
    clock::time_point until;
    ended then;
  };

  void fail(std::map<plain_socket, transfer>::iterator at) {
    const std::errc why = last_plain_error();
    if (why != std::errc::operation_would_block) end(at, static_cast<int>(why));
  }
  void end(std::map<plain_socket, transfer>::iterator at, int error) {
    const plain_socket descriptor = at->first;
    const transfer of = std::move(at->second);
    transfers_.erase(at);
    close_plain(descriptor);
    ++closed_;
    socket_function(descriptor, removed);
    of.then(error, of.reply);  // which may begin the next one, of the same number
  }
  void set_timer() const {
    auto first = clock::time_point::max();
    for (const auto& [descriptor, each] : transfers_) first = std::min(first, each.until);
    timer_function(first);
  }

  std::map<plain_socket, transfer> transfers_;
  std::size_t closed_ = 0;
};

}  // namespace tandem::test
