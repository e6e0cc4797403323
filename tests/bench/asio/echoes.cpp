// echoes.cpp: suite asio: Beast's WebSocket and HTTP on sockets of tandem and on Boost.Asio's, one server thread.
// SPDX-License-Identifier: MIT
//
// The sessions are the same templates, in callbacks, as Beast's examples have them; only the type of
// the stream differs. The load is a thread of its own, which speaks the bytes that it was given.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/boost_asio.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/runtime.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "suite.hpp"

namespace tandem::bench::interop {

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = net::ip::tcp;

constexpr int connections = 64;
constexpr long requests = 200'000;

// --- What is served

template <class Stream>
class websocket_session : public std::enable_shared_from_this<websocket_session<Stream>> {
 public:
  explicit websocket_session(Stream stream) : socket_(std::move(stream)) {}
  void start() {
    socket_.binary(true);
    socket_.async_accept([self = this->shared_from_this()](beast::error_code error) {
      if (!error) self->read();
    });
  }

 private:
  void read() {
    socket_.async_read(buffer_,
                       [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                         if (!error) self->write();
                       });
  }
  void write() {
    socket_.async_write(buffer_.data(), [self = this->shared_from_this()](beast::error_code error,
                                                                          std::size_t size) {
      if (error) return;
      self->buffer_.consume(size);
      self->read();
    });
  }

  beast::websocket::stream<Stream> socket_;
  beast::flat_buffer buffer_;
};

template <class Stream>
class http_session : public std::enable_shared_from_this<http_session<Stream>> {
 public:
  explicit http_session(Stream stream) : socket_(std::move(stream)) {}
  void start() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

 private:
  void answer() {
    response_ = http::response<http::string_body>(http::status::ok, request_.version());
    response_.set(http::field::content_type, "text/plain");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "Hello, World!";
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error) self->start();
                      });
  }

  Stream socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

// --- On what

template <template <class> class Session, class Stream>
void begin(Stream stream) {
  const auto where = stream.get_executor();
  net::post(where,
            [made = std::make_shared<Session<Stream>>(std::move(stream))] { made->start(); });
}

class on_tandem {
 public:
  on_tandem() : runtime_(one_worker()), pool_(io::install(runtime_, one_thread())) {}
  template <template <class> class Session>
  void add(int descriptor) {
    begin<Session>(as_asio_stream(io::tcp_stream::from_native(pool_, descriptor)));
  }

 private:
  static runtime_options one_worker() {
    runtime_options options;
    options.min_threads = options.max_threads = 1;
    return options;
  }
  static io::completion_options one_thread() {
    io::completion_options options;
    options.min_threads = options.max_threads = 1;
    options.adaptive = false;
    return options;
  }
  runtime runtime_;
  io::completion_pool& pool_;
};

class on_asio {
 public:
  on_asio() : thread_([this] { context_.run(); }) {}
  on_asio(const on_asio&) = delete;
  on_asio& operator=(const on_asio&) = delete;
  ~on_asio() {
    work_.reset();
    thread_.join();
  }
  template <template <class> class Session>
  void add(int descriptor) {
    begin<Session>(tcp::socket(context_, tcp::v4(), descriptor));
  }

 private:
  net::io_context context_{1};
  net::executor_work_guard<net::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
};

// --- The load

void expect_done(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

class descriptor {
 public:
  explicit descriptor(int number) : number_(number) { expect_done(number >= 0, "descriptor"); }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Both ends of a connection over loopback.
std::pair<descriptor, descriptor> connect_pair() {
  const descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&where);  // NOLINT
  socklen_t size = sizeof where;
  expect_done(::bind(listener.get(), address, size) == 0, "bind");
  expect_done(::listen(listener.get(), 1) == 0, "listen");
  expect_done(::getsockname(listener.get(), address, &size) == 0, "getsockname");
  descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  expect_done(::connect(client.get(), address, size) == 0, "connect");
  descriptor server(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  for (const int each : {client.get(), server.get()}) {
    expect_done(::setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
  }
  return {std::move(client), std::move(server)};
}

/// What it says and hears: bytes, the same each time.
struct dialogue {
  std::string greeting;  // once, first; its answer ends with an empty line
  std::string request;
  std::size_t answer_size = 0;  // 0: that of the first answer
};

class load {
 public:
  load(std::vector<descriptor> clients, dialogue said)
      : clients_(std::move(clients)),
        said_(std::move(said)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (!said_.greeting.empty()) {
        send(i, said_.greeting);
        hear_greeting(i);
      }
      epoll_event interest{};
      interest.events = EPOLLIN;
      interest.data.u64 = i;
      expect_done(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, clients_[i].get(), &interest) == 0,
                  "epoll_ctl");
    }
    heard_.resize(clients_.size());
    if (said_.answer_size == 0) {
      send(0, said_.request);
      said_.answer_size = receive(0);
    }
  }
  /// Each connection has one request under way.
  void run(long count) {
    long sent = 0;
    for (std::size_t i = 0; i < clients_.size(); ++i, ++sent) send(i, said_.request);
    long answered = 0;
    std::array<epoll_event, connections> ready;
    while (answered < sent) {
      const int n = ::epoll_wait(epoll_.get(), ready.data(), connections, -1);
      for (int k = 0; k < n; ++k) {
        const std::size_t i = ready[static_cast<std::size_t>(k)].data.u64;
        heard_[i] += receive(i);
        if (heard_[i] < said_.answer_size) continue;
        expect_equal(heard_[i], said_.answer_size, "the size of an answer");
        heard_[i] = 0;
        ++answered;
        if (sent < count) {
          send(i, said_.request);
          ++sent;
        }
      }
    }
  }

 private:
  void send(std::size_t i, std::string_view bytes) {
    expect_done(::send(clients_[i].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                    static_cast<ssize_t>(bytes.size()),
                "send");
  }
  std::size_t receive(std::size_t i) {
    const ssize_t n = ::recv(clients_[i].get(), room_.data(), room_.size(), 0);
    expect_done(n > 0, "recv");
    return static_cast<std::size_t>(n);
  }
  void hear_greeting(std::size_t i) {
    std::string all;
    while (!all.ends_with("\r\n\r\n")) all.append(room_.data(), receive(i));
  }

  std::vector<descriptor> clients_;
  dialogue said_;
  descriptor epoll_;
  std::vector<std::size_t> heard_;
  std::array<char, 4096> room_;
};

dialogue websocket_of(std::size_t size) {
  dialogue made;
  made.greeting =
      "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  // A final binary frame with a mask (of zeros); it comes back without one.
  made.request = std::string("\x82", 1) + static_cast<char>(0x80 | size) + std::string(4, '\0') +
                 std::string(size, 'e');
  made.answer_size = 2 + size;
  return made;
}
dialogue http_hello() {
  dialogue made;
  made.request = "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";
  return made;
}

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The first of this process's CPUs for the server, the last one for the load.
class placement {
 public:
  placement() {
    ::sched_getaffinity(0, sizeof all_, &all_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all_)) cpus_.push_back(cpu);
    }
    stay_on(cpus_.front());
  }
  void go_on_as_load() const { stay_on(cpus_.back()); }

 private:
  static void stay_on(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  cpu_set_t all_;
  std::vector<int> cpus_;
};

enum class told : bool { rate, cpu };

template <class Server, template <class> class Session>
double measure(const dialogue& said, told what) {
  const placement places;
  Server server;
  std::vector<descriptor> clients;
  for (int i = 0; i < connections; ++i) {
    auto [client, accepted] = connect_pair();
    server.template add<Session>(accepted.release());
    clients.push_back(std::move(client));
  }
  places.go_on_as_load();
  load generator(std::move(clients), said);
  const long count = pool::scaled(requests);
  generator.run(count / 10);
  const auto server_cpu = [] {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID);
  };
  const double cpu = server_cpu();
  const double start = seconds_of(CLOCK_MONOTONIC);
  generator.run(count);
  const double taken = seconds_of(CLOCK_MONOTONIC) - start;
  return what == told::rate ? static_cast<double>(count) / taken
                            : (server_cpu() - cpu) * 1e9 / static_cast<double>(count);
}

template <class Server, template <class> class Session>
bench_case row(const std::string& name, const char* input, const char* impl, const char* role,
               const dialogue& said, told what) {
  bench_case made;
  made.name = name + (what == told::cpu ? ".cpu" : "");
  made.impl = impl;
  made.role = role;
  made.unit = what == told::rate ? "req/s" : "ns cpu/req";
  made.better = what == told::rate ? "higher" : "lower";
  made.input = input;
  made.threads = {2};  // the server's, and the load's
  made.sample = [=](int) { return measure<Server, Session>(said, what); };
  return made;
}

template <template <class> class Session>
void add(case_list& cases, const char* name, const char* input, const dialogue& said) {
  for (const told what : {told::rate, told::cpu}) {
    cases.push_back(row<on_tandem, Session>(name, input, "tandem", "self", said, what));
    cases.push_back(row<on_asio, Session>(name, input, "asio", "peer", said, what));
  }
}

}  // namespace

void add_echoes(case_list& cases) {
  add<websocket_session>(cases, "websocket_64",
                         "64 B over Beast's WebSocket, 64 connections, 1 server thread",
                         websocket_of(64));
  add<http_session>(cases, "http_hello",
                    "13 B over Beast's HTTP/1.1, keep-alive, 64 connections, 1 server thread",
                    http_hello());
}

}  // namespace tandem::bench::interop
