// load.cpp: what measure.py loads the servers with: load PORT CONNECTIONS SECONDS keys|chat DEPTH. Plain epoll, one thread.
// SPDX-License-Identifier: MIT
//
// keys: each connection has DEPTH requests under way, nine GET and one SET in ten. chat: each is a
// member, DEPTH of them speak, and speak again when they hear themselves. Prints how many lines
// came, and in how many seconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

class client {
 public:
  int descriptor = -1;
  int number = 0;
  int asked = 0;    // keys: how many there have been
  int missing = 0;  // keys: answers of this turn that have not come
  bool speaks = false;
  std::string in;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

class load {
 public:
  load(std::uint16_t port, int connections, bool chat, int depth)
      : chat_(chat), depth_(depth), clients_(static_cast<std::size_t>(connections)) {
    epoll_ = ::epoll_create1(0);
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (client& each : clients_) {
      each.number = static_cast<int>(&each - clients_.data());
      each.speaks = chat && each.number < depth;
      each.descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
      const int on = 1;
      ::setsockopt(each.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (::connect(each.descriptor, reinterpret_cast<sockaddr*>(&server), sizeof server) < 0) {
        fail("connect");
      }
      if (chat) {
        send(each, "NICK m" + std::to_string(each.number) + "\n");
        receive(each);  // HELLO: all that are there before a later one comes
      } else {
        send(each, "SET key" + std::to_string(each.number) + " a value of some length\n");
        receive(each);
      }
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &each;
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, each.descriptor, &event);
    }
  }

  void run(double seconds) {
    using clock = std::chrono::steady_clock;
    std::array<epoll_event, 256> events;
    for (client& each : clients_) {
      if (!chat_ || each.speaks) ask(each);
    }
    const auto begin = clock::now();
    const auto end = begin + std::chrono::duration<double>(seconds);
    std::uint64_t lines = 0;
    auto now = begin;
    while (now < end) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), 1000);
      if (count == 0) {
        std::fprintf(stderr, "nothing came for a second\n");
        std::exit(1);
      }
      for (int i = 0; i < count; ++i) {
        lines += take(*static_cast<client*>(events[static_cast<std::size_t>(i)].data.ptr));
      }
      now = clock::now();
    }
    std::printf("lines=%llu seconds=%.6f\n", static_cast<unsigned long long>(lines),
                std::chrono::duration<double>(now - begin).count());
  }

 private:
  static void send(const client& to, std::string_view text) {
    if (::send(to.descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      fail("send");
    }
  }
  std::size_t receive(client& from) {
    const ssize_t got = ::recv(from.descriptor, buffer_.data(), buffer_.size(), 0);
    if (got <= 0) fail("recv");
    return static_cast<std::size_t>(got);
  }
  void ask(client& who) {
    if (chat_) return send(who, "SAY something that everybody hears\n");
    std::string turn;
    for (int i = 0; i < depth_; ++i) {
      const std::string key = "key" + std::to_string(who.number);
      turn +=
          ++who.asked % 10 == 0 ? "SET " + key + " a value of some length\n" : "GET " + key + "\n";
    }
    who.missing = depth_;
    send(who, turn);
  }
  std::uint64_t take(client& who) {
    const std::string_view came(buffer_.data(), receive(who));
    std::uint64_t lines = 0;
    bool heard_itself = false;
    const std::string itself = "m" + std::to_string(who.number) + ": ";
    for (std::size_t at = 0; at < came.size();) {
      const std::size_t end = came.find('\n', at);
      if (who.speaks) who.in += came.substr(at, end - at);
      if (end == came.npos) break;
      ++lines;
      if (who.speaks) {
        heard_itself = heard_itself || who.in.starts_with(itself);
        who.in.clear();
      }
      at = end + 1;
    }
    if (chat_ ? heard_itself : (who.missing -= static_cast<int>(lines)) == 0) ask(who);
    return lines;
  }

  bool chat_;
  int depth_;
  int epoll_ = -1;
  std::vector<client> clients_;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "%s PORT CONNECTIONS SECONDS keys|chat DEPTH\n", argv[0]);
    return 2;
  }
  load(static_cast<std::uint16_t>(std::atoi(argv[1])), std::atoi(argv[2]),
       std::string_view(argv[4]) == "chat", std::atoi(argv[5]))
      .run(std::atof(argv[3]));
}
