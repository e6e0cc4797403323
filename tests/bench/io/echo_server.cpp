// echo_server.cpp: tandem's echo servers of suite io. io_tandem PORT THREADS HOME_CALL [PATH].
// SPDX-License-Identifier: MIT
//
// HOME_CALL as in thread_receive: HOME is thread (confined to the socket's thread), pool (any completion thread) or workers; CALL
// is read (into a buffer of the task's own), receive (into leased buffers) or spin (see there). With a
// PATH it serves a Unix socket instead of the port.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/unix_listener.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "server.hpp"

namespace {

namespace io = tandem::io;

template <class Stream>
tandem::task<void> echo_receive(Stream client) {
  while (true) {
    auto got = co_await tandem::as_result(client.receive());
    if (!got || got.value().empty()) co_return;
    auto sent = co_await tandem::as_result(client.write_all(got.value().bytes()));
    if (!sent) co_return;
  }
}

// Answers '?' with the index of its completion thread; '!' keeps that thread for 200 ms.
tandem::task<void> echo_spin(io::tcp_stream client) {
  while (true) {
    auto got = co_await tandem::as_result(client.receive());
    if (!got || got.value().empty()) co_return;
    std::byte& first = got.value().bytes().front();
    if (first == std::byte{'?'}) {
      first = static_cast<std::byte>('0' + io::current_completion_index());
    } else if (first == std::byte{'!'}) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
      while (std::chrono::steady_clock::now() < end) {}
    }
    auto sent = co_await tandem::as_result(client.write_all(got.value().bytes()));
    if (!sent) co_return;
  }
}

template <class Handler>
int serve_path(const char* path, const tandem::bench::server_command& command,
               io::handler_home home, Handler handler) {
  const auto bind = [&](io::completion_pool& pool) {
    return io::unix_listener::bind(pool, io::unix_endpoint::path(path));
  };
  return tandem::bench::serve_from(bind, command, home, handler);
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  const std::string_view mode = command.mode;
  const std::string_view home_name = mode.substr(0, mode.find('_'));
  const std::string_view call = mode.substr(mode.find('_') + 1);
  io::handler_home home = io::handler_home::connection_thread;
  if (home_name == "pool") home = io::handler_home::completion_pool;
  if (home_name == "workers") home = io::handler_home::workers;
  if (argc > 4 && call == "read")
    return serve_path(argv[4], command, home, tandem::bench::echo_by_reads<io::unix_stream>);
  if (argc > 4) return serve_path(argv[4], command, home, echo_receive<io::unix_stream>);
  if (call == "read")
    return tandem::bench::serve_for_ever(command, home,
                                         tandem::bench::echo_by_reads<io::tcp_stream>);
  if (call == "receive")
    return tandem::bench::serve_for_ever(command, home, echo_receive<io::tcp_stream>);
  if (call == "spin") return tandem::bench::serve_for_ever(command, home, echo_spin);
  std::fprintf(stderr, "%s: thread|pool|workers _ read|receive|spin\n", argv[0]);
  return 2;
}
