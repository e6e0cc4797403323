// use_tasks.cpp: awaits tasks that the library's own coroutines return, and gives it one to await.
// SPDX-License-Identifier: MIT
//
// Built by another compiler than the library: both have to pass a task in the same way.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tandem/io/read_file.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

namespace io = tandem::io;

namespace {

tandem::task<bool> a_host_has_addresses() {
  const std::vector<io::endpoint> found = co_await io::resolve("localhost", 80);
  co_return !found.empty() && found.front().port() == 80;
}

tandem::task<bool> what_is_written_is_read(std::string path) {
  co_await io::write_file(path, "tandem");
  const std::string text = co_await io::read_file(path);
  std::remove(path.c_str());
  co_return text == "tandem";
}

tandem::task<void> echo_a_byte(io::tcp_stream stream) {
  std::array<std::byte, 1> byte{};
  const std::size_t size = co_await stream.read(byte);
  if (size == 1) co_await stream.write_all(byte);
}

tandem::task<bool> a_server_answers() {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  std::array<std::byte, 1> byte{std::byte{42}};
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(io::serve(std::move(listener), echo_a_byte));
    io::tcp_stream stream = co_await io::tcp_stream::connect("localhost", port);
    co_await stream.write_all(byte);
    byte = {};
    const std::size_t size = co_await stream.read(byte);
    if (size != 1) byte = {};
    scope.request_stop();
  });
  co_return byte[0] == std::byte{42};
}

}  // namespace

int main(int, char** arguments) {
  if (!tandem::run(a_host_has_addresses())) return 1;
  if (!tandem::run(what_is_written_is_read(std::string(arguments[0]) + ".txt"))) return 2;
  if (!tandem::run(a_server_answers())) return 3;
  std::puts("use_tasks: ok");
}
