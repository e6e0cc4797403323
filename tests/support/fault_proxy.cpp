// fault_proxy.cpp: the proxy's loop, and what it does to each direction.
// SPDX-License-Identifier: MIT
#include "fault_proxy.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <list>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::test {

namespace {

using steady = std::chrono::steady_clock;

enum class fate : unsigned char { none, half_cut, cut, reset, stall };

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// One direction of a connection.
class lane {
 public:
  lane(int from, int to, std::uint64_t seed, const fault_plan& plan)
      : from_(from), to_(to), random_(seed), plan_(&plan) {
    next_piece();
  }

  int from() const noexcept { return from_; }
  int to() const noexcept { return to_; }
  bool is_over() const noexcept { return over_; }
  void set_fate(fate what, std::size_t after) noexcept {
    fate_ = what;
    after_ = after;
  }

  bool wants_to_read() const noexcept { return !over_ && !ended_ && held_.empty(); }
  bool wants_to_write(steady::time_point now) const noexcept {
    return !over_ && !held_.empty() && now >= not_before_;
  }
  /// When it wants something though nobody says anything; max(): never.
  steady::time_point due() const noexcept {
    return over_ || held_.empty() ? steady::time_point::max() : not_before_;
  }

  /// @returns  what has to be done to the whole connection
  fate read() {
    std::vector<char> room(16 * 1024);
    const ssize_t n = ::recv(from_, room.data(), room.size(), MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR ? fate::none : fate::reset;
    if (n == 0) {
      ended_ = true;
      if (fate_ == fate::cut || fate_ == fate::reset) return fate_;
      end();
      return fate::none;
    }
    if (swallows_) return fate::none;
    room.resize(static_cast<std::size_t>(n));
    held_ = std::move(room);
    return fate::none;
  }

  fate write() {
    std::size_t count = std::min(held_.size() - sent_, piece_);
    if (fate_ != fate::none) count = std::min(count, after_ - passed_);
    if (count != 0) {
      const ssize_t n = ::send(to_, held_.data() + sent_, count, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0) {
        if (errno == EAGAIN || errno == EINTR) {
          // Full: asked again by poll() would be exact; a look each millisecond is enough.
          not_before_ = steady::now() + std::chrono::milliseconds(1);
          return fate::none;
        }
        return fate::reset;
      }
      sent_ += static_cast<std::size_t>(n);
      passed_ += static_cast<std::size_t>(n);
      piece_ -= static_cast<std::size_t>(n);
      if (piece_ == 0) next_piece();
    }
    if (sent_ == held_.size()) {
      held_.clear();
      sent_ = 0;
    }
    return fate_ != fate::none && passed_ == after_ ? strike() : fate::none;
  }

 private:
  void next_piece() {
    piece_ = 1 + random_() % plan_->most_piece_bytes;
    if (plan_->most_pause_us != 0) {
      not_before_ = steady::now() + std::chrono::microseconds(random_() % plan_->most_pause_us);
    }
  }
  fate strike() {
    const fate what = std::exchange(fate_, fate::none);
    if (what == fate::stall) {
      not_before_ = steady::now() + std::chrono::milliseconds(plan_->stall_ms);
      return fate::none;
    }
    if (what == fate::half_cut) {
      ::shutdown(to_, SHUT_WR);
      swallows_ = true;
      held_.clear();
      sent_ = 0;
    }
    return what;
  }
  void end() {
    if (!swallows_) ::shutdown(to_, SHUT_WR);
    over_ = true;
  }

  int from_;
  int to_;
  std::mt19937_64 random_;
  const fault_plan* plan_;
  std::vector<char> held_;
  std::size_t sent_ = 0;  // of held_
  std::size_t passed_ = 0;
  std::size_t piece_ = 0;  // bytes until the next pause
  steady::time_point not_before_ = steady::time_point::min();
  fate fate_ = fate::none;
  std::size_t after_ = 0;
  bool swallows_ = false;
  bool ended_ = false;
  bool over_ = false;
};

class link {
 public:
  link(int client, int server, std::uint64_t seed, const fault_plan& plan)
      : lanes{lane(client, server, seed * 2 + 1, plan), lane(server, client, seed * 2 + 2, plan)} {
    std::mt19937_64 random(seed);
    const auto dice = static_cast<unsigned>(random() % 100);
    unsigned limit = 0;
    const auto hits = [&](unsigned share) { return dice < (limit += share); };
    const fate drawn = hits(plan.half_cuts) ? fate::half_cut
                       : hits(plan.cuts)    ? fate::cut
                       : hits(plan.resets)  ? fate::reset
                       : hits(plan.stalls)  ? fate::stall
                                            : fate::none;
    if (drawn != fate::none) {
      lanes[random() % 2].set_fate(drawn, 1 + random() % plan.within_bytes);
    }
  }
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  ~link() {
    ::close(lanes[0].from());
    ::close(lanes[0].to());
  }
  void reset() const noexcept {
    const ::linger at_once{1, 0};
    for (const lane& each : lanes) {
      ::setsockopt(each.from(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
  }
  bool is_over() const noexcept { return lanes[0].is_over() && lanes[1].is_over(); }

  lane lanes[2];
};

}  // namespace

class fault_proxy::impl {
 public:
  impl(std::uint16_t to_port, std::uint64_t seed, const fault_plan& plan)
      : target_(loopback(to_port)), seed_(seed), plan_(plan) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    stop_ = ::eventfd(0, EFD_CLOEXEC);
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    auto* const address = reinterpret_cast<sockaddr*>(&here);  // NOLINT: as bind() wants it
    if (listener_ < 0 || stop_ < 0 || ::bind(listener_, address, size) != 0 ||
        ::listen(listener_, 128) != 0 || ::getsockname(listener_, address, &size) != 0) {
      give_up("fault_proxy");
    }
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~impl() {
    ::eventfd_write(stop_, 1);
    thread_.join();
    ::close(listener_);
    ::close(stop_);
  }

  std::uint16_t port() const noexcept { return port_; }
  std::size_t broken() const noexcept { return broken_.load(std::memory_order_relaxed); }

 private:
  void run() {
    std::vector<pollfd> asked;
    while (true) {
      const auto now = steady::now();
      auto due = steady::time_point::max();
      asked.assign({pollfd{stop_, POLLIN, 0}, pollfd{listener_, POLLIN, 0}});
      for (const link& each : links_) {
        for (const lane& way : each.lanes) {
          asked.push_back(pollfd{way.wants_to_read() ? way.from() : -1, POLLIN, 0});
          due = std::min(due, way.due());
        }
      }
      timespec limit{};
      if (due > now && due != steady::time_point::max()) {
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(due - now).count();
        limit = {ns / 1'000'000'000, ns % 1'000'000'000};
      }
      ::ppoll(asked.data(), asked.size(), due == steady::time_point::max() ? nullptr : &limit,
              nullptr);
      if (asked[0].revents != 0) return;
      const pollfd* next = asked.data() + 2;
      for (auto each = links_.begin(); each != links_.end();) {
        const bool over = !step(*each, next);
        next += 2;
        each = over ? links_.erase(each) : std::next(each);
      }
      if (asked[1].revents != 0) accept();
    }
  }

  /// @returns  whether it goes on
  bool step(link& one, const pollfd* asked) {
    for (lane& way : one.lanes) {
      fate what = fate::none;
      if (asked++->revents != 0) what = way.read();
      if (what == fate::none && way.wants_to_write(steady::now())) what = way.write();
      if (what == fate::none) continue;
      broken_.fetch_add(1, std::memory_order_relaxed);  // a count
      if (what == fate::half_cut) continue;
      if (what == fate::reset) one.reset();
      return false;
    }
    return !one.is_over();
  }

  void accept() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* const address = reinterpret_cast<const sockaddr*>(&target_);  // NOLINT
    if (server < 0 || ::connect(server, address, sizeof target_) != 0) {
      ::close(client);
      if (server >= 0) ::close(server);
      return;
    }
    const int on = 1;
    for (const int each : {client, server}) {
      ::setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    links_.emplace_back(client, server, seed_ + 1000 * ++accepted_, plan_);
  }

  const sockaddr_in target_;
  const std::uint64_t seed_;
  const fault_plan plan_;
  int listener_ = -1;
  int stop_ = -1;
  std::uint16_t port_ = 0;
  std::uint64_t accepted_ = 0;
  std::list<link> links_;
  std::atomic<std::size_t> broken_{0};
  std::thread thread_;
};

fault_proxy::fault_proxy(std::uint16_t to_port, std::uint64_t seed, const fault_plan& plan)
    : impl_(std::make_unique<impl>(to_port, seed, plan)) {}
fault_proxy::~fault_proxy() = default;
std::uint16_t fault_proxy::port() const noexcept { return impl_->port(); }
std::size_t fault_proxy::broken() const noexcept { return impl_->broken(); }

}  // namespace tandem::test
