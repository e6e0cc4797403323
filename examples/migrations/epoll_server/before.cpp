// before.cpp: the key/value service as epoll(7) teaches it: one thread, one loop, a state machine for each connection.
// SPDX-License-Identifier: MIT
//
// What a connection has to remember between two events stands in `connection`; what it waits for in
// `state`. Each list of connections has one time limit, so its first one is the next that expires.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../settings.hpp"
#include "request.hpp"

namespace {

using namespace migrations;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum class state : std::uint8_t {
  reading,    // for a line
  waiting,    // for a key
  flushing,   // until the client takes its answers
  lingering,  // has heard the last word: what it still sends is dropped
  closed,
};

class connection {
 public:
  int descriptor = -1;
  state now = state::reading;
  std::uint32_t interest = EPOLLIN;
  bool refused = false;  // no further line is looked at
  std::string in, out;
  std::size_t taken = 0;  // bytes of `in` that were answered
  std::size_t sent = 0;   // bytes of `out`
  clock::time_point deadline;
  std::list<connection>* list = nullptr;  // where it is
  std::list<connection>::iterator self;
  std::multimap<std::string, connection*, std::less<>>::iterator place;  // while it waits
};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class server {
 public:
  explicit server(const settings& chosen) : chosen_(chosen) {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) fail("epoll_create1");
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (signals_ < 0 || listener_ < 0) fail("signalfd, socket");
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(chosen.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, sizeof address) < 0) fail("bind");
    if (::listen(listener_, SOMAXCONN) < 0) fail("listen");
    socklen_t size = sizeof address;
    ::getsockname(listener_, generic, &size);
    watch(listener_, EPOLLIN, &listener_);
    watch(signals_, EPOLLIN, &signals_);
    announce(ntohs(address.sin_port));
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    ::close(signals_);
    ::close(epoll_);
  }

  void run() {
    std::array<epoll_event, 256> events;
    while (!draining_ || !idle_.empty() || !waiting_.empty()) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), milliseconds_to_sleep());
      if (count < 0 && errno != EINTR) fail("epoll_wait");
      now_ = clock::now();
      for (int i = 0; i < count; ++i) {
        void* const source = events[static_cast<std::size_t>(i)].data.ptr;
        if (source == &listener_) {
          accept_all();
        } else if (source == &signals_) {
          begin_drain();
        } else {
          on_event(*static_cast<connection*>(source), events[static_cast<std::size_t>(i)].events);
        }
        run_woken();
      }
      expire();
      run_woken();
      closed_.clear();  // not before: later events of the batch may still name one of them
    }
  }

 private:
  void watch(int descriptor, std::uint32_t interest, void* source) {
    epoll_event event{};
    event.events = interest;
    event.data.ptr = source;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) < 0) fail("epoll_ctl");
  }
  void set_interest(connection& c, std::uint32_t interest) {
    if (c.interest == interest) return;
    c.interest = interest;
    epoll_event event{};
    event.events = interest;
    event.data.ptr = &c;
    if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, c.descriptor, &event) < 0) fail("epoll_ctl");
  }

  // Time

  void arm(connection& c, std::list<connection>& list, std::chrono::milliseconds limit) {
    c.deadline = now_ + limit;
    list.splice(list.end(), *c.list, c.self);
    c.list = &list;
  }
  int milliseconds_to_sleep() const {
    auto next = clock::time_point::max();
    for (const auto* list : {&idle_, &waiting_}) {
      if (!list->empty()) next = std::min(next, list->front().deadline);
    }
    if (draining_) next = std::min(next, grace_ends_);
    if (accept_again_) next = std::min(next, *accept_again_);
    if (next == clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    return static_cast<int>(std::max(left, 0ms).count());
  }
  void expire() {
    if (accept_again_ && *accept_again_ <= now_ && !draining_) {
      accept_again_.reset();
      watch(listener_, EPOLLIN, &listener_);
    }
    const bool all = draining_ && grace_ends_ <= now_;
    while (!idle_.empty() && (all || idle_.front().deadline <= now_)) close(idle_.front());
    while (!waiting_.empty() && (all || waiting_.front().deadline <= now_)) {
      connection& c = waiting_.front();
      if (all) {
        close(c);
      } else {
        wake(c.place, "TIMEOUT\n");
        run_woken();
      }
    }
  }

  // Connections

  void accept_all() {
    while (true) {
      const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor >= 0) {
        const int on = 1;
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connection& c = idle_.emplace_back();
        c.descriptor = descriptor;
        c.list = &idle_;
        c.self = std::prev(idle_.end());
        c.deadline = now_ + chosen_.idle;
        watch(descriptor, EPOLLIN, &c);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // The listener stays ready: without a pause the loop would spin.
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
        accept_again_ = now_ + 5ms;
        return;
      } else if (errno == EAGAIN) {
        return;
      }  // else that peer has gone already
    }
  }
  void close(connection& c) {
    if (c.now == state::waiting) keys_waited_for_.erase(c.place);
    c.now = state::closed;
    ::close(c.descriptor);
    closed_.splice(closed_.end(), *c.list, c.self);
    c.list = &closed_;
  }
  void begin_drain() {
    signalfd_siginfo ignored;
    while (::read(signals_, &ignored, sizeof ignored) > 0) {}
    if (draining_) return;
    draining_ = true;
    grace_ends_ = now_ + chosen_.grace;
    ::close(listener_);
    for (auto next = idle_.begin(); next != idle_.end();) {
      connection& c = *next++;
      if (c.now != state::flushing) close(c);
    }
    while (!keys_waited_for_.empty()) wake(keys_waited_for_.begin(), "CLOSING\n");
  }
  void on_event(connection& c, std::uint32_t events) {
    if (c.now == state::closed) return;
    if (c.now == state::flushing || c.now == state::waiting) {
      if ((events & (EPOLLERR | EPOLLHUP)) != 0) return close(c);
      if (c.now == state::flushing) advance(c);
      return;
    }
    const ssize_t got = ::read(c.descriptor, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close(c);  // all of its lines have been answered
    if (c.now == state::lingering) return;
    c.in.append(buffer_.data(), static_cast<std::size_t>(got));
    if (c.in.find('\n') != c.in.npos || c.in.size() > longest_line) advance(c);
  }

  // The state machine: lines to answers, answers to the client, until it has to wait.

  void advance(connection& c) {
    while (true) {
      if (!c.out.empty() && !flush(c)) return;
      if (c.refused) {
        c.now = state::lingering;
        ::shutdown(c.descriptor, SHUT_WR);
        return draining_ ? close(c) : await_bytes(c);
      }
      answer_lines(c);
      if (c.now == state::waiting) return;
      if (c.out.empty()) {
        c.now = state::reading;
        return draining_ ? close(c) : await_bytes(c);
      }
    }
  }
  void await_bytes(connection& c) {
    set_interest(c, EPOLLIN);
    arm(c, idle_, chosen_.idle);
  }
  bool flush(connection& c) {
    while (c.sent < c.out.size()) {
      const ssize_t wrote =
          ::send(c.descriptor, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
      if (wrote >= 0) {
        c.sent += static_cast<std::size_t>(wrote);
      } else if (errno == EAGAIN) {
        if (c.now != state::flushing) {
          c.now = state::flushing;
          set_interest(c, EPOLLOUT);
          arm(c, idle_, chosen_.idle);
        }
        return false;
      } else if (errno != EINTR) {
        close(c);
        return false;
      }
    }
    c.out.clear();
    c.sent = 0;
    c.now = state::reading;
    return true;
  }
  void answer_lines(connection& c) {
    while (c.out.size() < most_answers) {
      const std::string_view rest = std::string_view(c.in).substr(c.taken);
      const std::size_t length = rest.find('\n');
      if (std::min(length, rest.size()) > longest_line) {
        c.out += "ERROR line too long\n";
        c.refused = true;
        break;
      }
      if (length == rest.npos) break;
      const request asked(rest.substr(0, length));
      if (asked.kind == verb::wait) {
        if (!c.out.empty()) break;  // what was asked before is answered first
        if (!values_.contains(asked.key)) {
          if (draining_) {
            c.out += "CLOSING\n";
          } else {
            begin_wait(c, asked.key);
            c.taken += length + 1;
            break;
          }
        }
      }
      answer(asked, c.out);
      c.taken += length + 1;
    }
    c.in.erase(0, std::exchange(c.taken, 0));
  }

  // Waiting for keys

  void begin_wait(connection& c, std::string_view key) {
    c.now = state::waiting;
    c.place = keys_waited_for_.emplace(key, &c);
    set_interest(c, 0);
    arm(c, waiting_, chosen_.wait);
  }
  /// It goes on later: whoever wakes it is in the middle of other lines.
  void wake(std::multimap<std::string, connection*, std::less<>>::iterator place,
            std::string_view answer) {
    connection& c = *place->second;
    keys_waited_for_.erase(place);
    c.now = state::reading;
    c.out += answer;
    arm(c, idle_, chosen_.idle);
    woken_.push_back(&c);
  }
  void run_woken() {
    while (!woken_.empty()) {
      for (connection* c : std::exchange(woken_, {})) {
        if (c->now != state::closed) advance(*c);
      }
    }
  }

  // The job

  void answer(const request& asked, std::string& out) {
    const auto found = values_.find(asked.key);
    switch (asked.kind) {
      case verb::set: {
        values_.insert_or_assign(std::string(asked.key), std::string(asked.value));
        const std::string told = "VALUE " + std::string(asked.value) + "\n";
        auto [first, last] = keys_waited_for_.equal_range(asked.key);
        while (first != last) wake(first++, told);
        out += "OK\n";
        break;
      }
      case verb::get:
      case verb::wait:
        if (found == values_.end()) {
          if (asked.kind == verb::get) out += "NONE\n";
        } else {
          out += "VALUE ";
          out += found->second;
          out += '\n';
        }
        break;
      case verb::del:
        out += found == values_.end() ? "NONE\n" : "OK\n";
        if (found != values_.end()) values_.erase(found);
        break;
      case verb::count:
        out += std::to_string(values_.size()) + " keys, " +
               std::to_string(keys_waited_for_.size()) + " waiting\n";
        break;
      case verb::bad: out += "ERROR bad request\n"; break;
    }
  }

  const settings& chosen_;
  int epoll_, listener_, signals_;
  clock::time_point now_ = clock::now();
  bool draining_ = false;
  clock::time_point grace_ends_;
  std::optional<clock::time_point> accept_again_;
  std::list<connection> idle_, waiting_, closed_;
  std::vector<connection*> woken_;
  std::array<char, 16 * 1024> buffer_;
  std::map<std::string, std::string, std::less<>> values_;
  std::multimap<std::string, connection*, std::less<>> keys_waited_for_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const settings chosen(argc, argv);
    server(chosen).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "before: %s\n", error.what());
    return 1;
  }
}
