// fault_proxy.cpp: the proxy's loop, and what it does to each direction.
// SPDX-License-Identifier: MIT
#include "fault_proxy.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "plain_sockets.hpp"

namespace tandem::test {

namespace {

using steady = std::chrono::steady_clock;

enum class fate : unsigned char { none, half_cut, cut, reset, stall };

/// One direction of a connection.
class lane {
 public:
  lane(plain_socket from, plain_socket to, std::uint64_t seed, const fault_plan& plan)
      : from_(from), to_(to), random_(seed), plan_(&plan) {
    next_piece();
  }

  plain_socket from() const noexcept { return from_; }
  plain_socket to() const noexcept { return to_; }
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
    const std::ptrdiff_t n = receive_plain(from_, room.data(), room.size());
    if (n < 0) return may_come_later() ? fate::none : fate::reset;
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
      const std::ptrdiff_t n = send_plain(to_, held_.data() + sent_, count);
      if (n < 0) {
        if (may_come_later()) {
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
  static bool may_come_later() noexcept {
    const std::errc why = last_plain_error();
    return why == std::errc::operation_would_block || why == std::errc::interrupted;
  }
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
      end_writing(to_);
      swallows_ = true;
      held_.clear();
      sent_ = 0;
    }
    return what;
  }
  void end() {
    if (!swallows_) end_writing(to_);
    over_ = true;
  }

  plain_socket from_;
  plain_socket to_;
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
  link(plain_socket client, plain_socket server, std::uint64_t seed, const fault_plan& plan)
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
    close_plain(lanes[0].from());
    close_plain(lanes[0].to());
  }
  void reset() const noexcept {
    for (const lane& each : lanes) reset_at_close(each.from());
  }
  bool is_over() const noexcept { return lanes[0].is_over() && lanes[1].is_over(); }

  lane lanes[2];
};

}  // namespace

class fault_proxy::impl {
 public:
  impl(std::uint16_t to_port, std::uint64_t seed, const fault_plan& plan)
      : target_(to_port),
        seed_(seed),
        plan_(plan),
        listener_(listening_plain(port_, 128)),
        stop_(connected_plain()),
        thread_([this] { run(); }) {}
  ~impl() {
    (void)send_plain(stop_[1], "x", 1);
    thread_.join();
    for (const plain_socket each : {listener_, stop_[0], stop_[1]}) close_plain(each);
  }

  std::uint16_t port() const noexcept { return port_; }
  std::size_t broken() const noexcept { return broken_.load(std::memory_order_relaxed); }

 private:
  void run() {
    std::vector<plain_socket> asked;
    while (true) {
      const auto now = steady::now();
      auto due = steady::time_point::max();
      asked.assign({stop_[0], listener_});
      for (const link& each : links_) {
        for (const lane& way : each.lanes) {
          asked.push_back(way.wants_to_read() ? way.from() : io::no_descriptor);
          due = std::min(due, way.due());
        }
      }
      const std::vector<bool> ready = wait_readable(asked, microseconds_until(due, now));
      if (ready[0]) return;
      std::size_t next = 2;
      for (auto each = links_.begin(); each != links_.end(); next += 2) {
        const bool over = !step(*each, {ready[next], ready[next + 1]});
        each = over ? links_.erase(each) : std::next(each);
      }
      if (ready[1]) accept();
    }
  }

  /// Rounded up. @returns -1 for never
  static long microseconds_until(steady::time_point due, steady::time_point now) {
    if (due == steady::time_point::max()) return -1;
    if (due <= now) return 0;
    return static_cast<long>(std::chrono::ceil<std::chrono::microseconds>(due - now).count());
  }

  /// @returns  whether it goes on
  bool step(link& one, std::array<bool, 2> is_ready) {
    for (std::size_t i = 0; i < 2; ++i) {
      lane& way = one.lanes[i];
      fate what = fate::none;
      if (is_ready[i]) what = way.read();
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
    const plain_socket client = accept_plain(listener_);
    if (client == io::no_descriptor) return;
    const plain_socket server = open_plain(socket_kind::stream_v4);
    if (connect_plain(server, target_) != std::errc{}) {
      close_plain(client);
      close_plain(server);
      return;
    }
    for (const plain_socket each : {client, server}) {
      send_at_once(each);
      set_blocking(each, false);
    }
    links_.emplace_back(client, server, seed_ + 1000 * ++accepted_, plan_);
  }

  const std::uint16_t target_;
  const std::uint64_t seed_;
  const fault_plan plan_;
  std::uint16_t port_ = 0;
  const plain_socket listener_;
  const std::array<plain_socket, 2> stop_;
  std::uint64_t accepted_ = 0;
  std::list<link> links_;
  std::atomic<std::size_t> broken_{0};
  std::thread thread_;  // last: it begins with all the others there
};

fault_proxy::fault_proxy(std::uint16_t to_port, std::uint64_t seed, const fault_plan& plan)
    : impl_(std::make_unique<impl>(to_port, seed, plan)) {}
fault_proxy::~fault_proxy() = default;
std::uint16_t fault_proxy::port() const noexcept { return impl_->port(); }
std::size_t fault_proxy::broken() const noexcept { return impl_->broken(); }

}  // namespace tandem::test
