// closing_library.hpp: a client as C libraries are, of callbacks alone; it closes a descriptor before it tells.
// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

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
  std::function<void(int descriptor, what wanted)> socket_function;
  std::function<void(clock::time_point until)> timer_function;

  closing_library() = default;
  closing_library(const closing_library&) = delete;
  closing_library& operator=(const closing_library&) = delete;
  ~closing_library() {
    while (!transfers_.empty()) end(transfers_.begin(), ECANCELED);
  }

  void fetch(std::uint16_t port, std::string text, clock::time_point until, ended then) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const raw = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
    const int answer = ::connect(descriptor, raw, sizeof address);
    const auto at = transfers_.emplace(descriptor, transfer{std::move(text), "", until, {}}).first;
    at->second.then = std::move(then);
    if (answer != 0 && errno != EINPROGRESS) return end(at, errno);
    socket_function(descriptor, out);
    set_timer();
  }

  void can_write(int descriptor) {
    const auto at = transfers_.find(descriptor);
    if (at == transfers_.end()) return;
    transfer& of = at->second;
    const ssize_t sent = ::send(descriptor, of.text.data(), of.text.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? void() : end(at, errno);
    of.text.erase(0, static_cast<std::size_t>(sent));
    if (!of.text.empty()) return;
    ::shutdown(descriptor, SHUT_WR);
    socket_function(descriptor, in);
  }
  void can_read(int descriptor) {
    const auto at = transfers_.find(descriptor);
    if (at == transfers_.end()) return;
    std::array<char, 16> part;  // small, so that it is told again
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got < 0) return errno == EAGAIN ? void() : end(at, errno);
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

  void end(std::map<int, transfer>::iterator at, int error) {
    const int descriptor = at->first;
    const transfer of = std::move(at->second);
    transfers_.erase(at);
    ::close(descriptor);
    ++closed_;
    socket_function(descriptor, removed);
    of.then(error, of.reply);  // which may begin the next one, of the same number
  }
  void set_timer() const {
    auto first = clock::time_point::max();
    for (const auto& [descriptor, each] : transfers_) first = std::min(first, each.until);
    timer_function(first);
  }

  std::map<int, transfer> transfers_;
  std::size_t closed_ = 0;
};

}  // namespace tandem::test
