// use_io.cpp: a user's program on tandem::io: one byte over a loopback connection.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdio>
#include <tandem/fork_join.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/run.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>

namespace io = tandem::io;

namespace {

tandem::task<void> send_a_byte(io::endpoint to) {
  io::tcp_stream stream = co_await io::tcp_stream::connect(to);
  const std::array<std::byte, 1> out{std::byte{42}};
  co_await stream.write_all(out);
}

tandem::task<int> receive_a_byte() {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  tandem::join_handle<void> sender = tandem::spawn(send_a_byte(listener.local_endpoint()));
  io::tcp_stream stream = co_await listener.accept();
  std::array<std::byte, 1> in{};
  const std::size_t size = co_await stream.read(in);
  co_await std::move(sender);
  co_return size == 1 ? std::to_integer<int>(in[0]) : -1;
}

}  // namespace

int main() {
  if (tandem::run(receive_a_byte()) != 42) return 1;
  std::puts("use_io: ok");
}
