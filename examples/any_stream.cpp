// any_stream.cpp: one handler for streams of two types: TCP, and a listener of one's own.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <tandem/channel.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <utility>

namespace io = tandem::io;
using tandem::task;

// Does not know what its client is connected by.
task<void> shout(io::any_stream client) {
  io::buffered_reader reader(client);
  while (auto line = co_await reader.read_until("\n", 1000)) {
    std::ranges::transform(*line, line->begin(), [](char c) { return c == 'o' ? 'O' : c; });
    co_await client.write_all(io::bytes_of(*line + "!\n"));
  }
}

// A stream within the process. Each direction is a channel of pieces.
class pipe_stream {
 public:
  using direction = std::shared_ptr<tandem::channel<std::string>>;
  pipe_stream(direction in, direction out) : in_(std::move(in)), out_(std::move(out)) {}
  pipe_stream(pipe_stream&&) = default;
  ~pipe_stream() { close(); }

  task<std::size_t> read(std::span<std::byte> room) {
    if (rest_.empty()) rest_ = (co_await in_->receive()).value_or("");
    const std::size_t count = std::min(room.size(), rest_.size());
    std::ranges::copy(io::bytes_of(rest_).first(count), room.begin());
    rest_.erase(0, count);
    co_return count;
  }
  task<std::size_t> write(std::span<const std::byte> bytes) {
    std::string piece(bytes.size(), ' ');
    std::ranges::transform(bytes, piece.begin(), [](std::byte b) { return static_cast<char>(b); });
    co_await out_->send(std::move(piece));
    co_return bytes.size();
  }
  task<void> write_all(std::span<const std::byte> bytes) { (void)co_await write(bytes); }
  void shutdown() {
    if (out_ != nullptr) out_->close();
  }
  // Neither direction goes on: whoever writes to us hears of it.
  void close() {
    shutdown();
    if (in_ != nullptr) in_->close();
  }

 private:
  direction in_, out_;
  std::string rest_;
};

static_assert(io::byte_stream<pipe_stream>);  // says what is missing, if something is

// Accepts what comes by a channel of connections.
class pipe_listener {
 public:
  explicit pipe_listener(tandem::channel<pipe_stream>& peers) : peers_(&peers) {}
  pipe_listener(pipe_listener&& other) noexcept : peers_(std::exchange(other.peers_, nullptr)) {}
  // Ends listening: further peers are refused, not left waiting.
  ~pipe_listener() {
    if (peers_ != nullptr) peers_->close();
  }
  task<pipe_stream> accept() {
    auto next = co_await peers_->receive();
    if (!next) throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor));
    co_return std::move(*next);
  }

 private:
  tandem::channel<pipe_stream>* peers_;
};

task<bool> ask(io::any_stream server) {
  co_await server.write_all(io::bytes_of("hello\n"));
  io::buffered_reader reader(server);
  const auto heard = co_await reader.read_until("\n", 100);
  std::printf("%s\n", heard ? heard->c_str() : "the server has left");
  co_return heard == "hellO!";
}

task<bool> run_servers() {
  auto tcp = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const io::endpoint here = tcp.local_endpoint();
  tandem::channel<pipe_stream> peers(4);
  bool right = true;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    io::serve_settings settings;
    settings.drain_timeout = std::chrono::seconds(2);
    scope.spawn(io::serve(std::move(tcp), shout, settings));
    scope.spawn(io::serve(pipe_listener(peers), shout, settings));
    const auto there = std::make_shared<tandem::channel<std::string>>(4);
    const auto back = std::make_shared<tandem::channel<std::string>>(4);
    co_await peers.send(pipe_stream(there, back));
    right = co_await ask(pipe_stream(back, there));
    right = co_await ask(co_await io::tcp_stream::connect(here)) && right;
    scope.request_stop();
  });
  co_return right;
}

int main() { return tandem::run(run_servers()) ? 0 : 1; }
