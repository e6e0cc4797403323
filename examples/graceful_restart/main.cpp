// main.cpp: a server whose next version takes its listener over: no connection is lost.
// SPDX-License-Identifier: MIT
//
// Start it once; start it again with the same control socket, and the new process asks the old one
// for its sockets, gets them as descriptors over that Unix socket, and serves. Then the old one
// accepts no more, finishes the connections it has, and exits. Whoever connects in between waits in
// the queue of the one listening socket that both of them have. The first process binds its sockets
// itself, or has the listener from a service manager (LISTEN_FDS; if it passes on several, the one
// with FileDescriptorName=web).
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/inherited_sockets.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/unix_listener.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_any.hpp>
#include <tandem/with_stop.hpp>
#include <utility>
#include <vector>

namespace {

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

/// Answers each line with the process that has read it. Whoever was accepted gets an answer, also
/// while the server finishes; whoever has had one and says nothing is left then.
task<void> answer(io::tcp_stream client, std::stop_token finishing) {
  const std::string who = std::to_string(::getpid()) + ' ';
  io::buffered_reader reader(client);
  auto line = co_await reader.read_until("\n", 1024);
  while (line) {
    const std::string answer = who + *line + '\n';
    co_await client.write_all(io::bytes_of(answer));
    const auto next =
        co_await tandem::as_result(tandem::with_stop(finishing, reader.read_until("\n", 1024)));
    if (next.is_cancelled()) co_return;
    line = next.value();
  }
}

class sockets {
 public:
  io::tcp_listener web;
  io::unix_listener control;  ///< where the next version asks for both
};

sockets bind(std::uint16_t port, const io::unix_endpoint& control,
             std::vector<io::inherited_socket> inherited) {
  sockets made;
  // The one that is called "web", or, if there is only one, that, whatever it is called.
  for (auto& each : inherited) {
    if (each.name != "web" && inherited.size() > 1) continue;
    made.web = io::tcp_listener::from_native(std::move(each.descriptor));
    break;
  }
  if (!inherited.empty() && !made.web.is_open()) {
    throw std::runtime_error("none of the sockets that were passed on is called \"web\"");
  }
  if (!made.web.is_open()) made.web = io::tcp_listener::bind(io::endpoint::loopback_v4(port));
  io::unix_listen_options only_this_user;
  only_this_user.permissions = 0600;
  only_this_user.removes_at_close = false;  // the next version listens there, too
  made.control = io::unix_listener::bind(control, only_this_user);
  return made;
}

/// @returns  nothing if no older version is there
task<std::optional<io::unix_stream>> find_older_version(const io::unix_endpoint& control) {
  auto older = co_await tandem::as_result(io::unix_stream::connect(control));
  if (older) co_return std::move(older).value();
  const std::error_code why = older.error();
  if (why != std::errc::connection_refused && why != std::errc::no_such_file_or_directory) {
    throw std::system_error(why, "asking " + control.to_string() + " for the sockets");
  }
  co_return std::nullopt;
}

task<sockets> take_over(io::unix_stream& older) {
  std::array<std::byte, 1> room;
  io::received_message got = co_await tandem::with_timeout(10s, older.read_with(room));
  if (got.descriptors.size() != 2) {
    throw std::runtime_error("the older version has not sent its two sockets");
  }
  sockets taken;
  taken.web = io::tcp_listener::from_native(std::move(got.descriptors[0]));
  taken.control = io::unix_listener::from_native(std::move(got.descriptors[1]));
  co_return std::move(taken);
}

/// Goes on when it may not accept for a while: it has as many connections as it may open descriptors,
/// and those of the service matter more.
task<io::unix_stream> next_version(io::unix_listener& control) {
  bool has_said_so = false;
  while (true) {
    auto next = co_await tandem::as_result(control.accept());
    if (next || next.is_cancelled()) co_return std::move(next).value();
    if (!has_said_so) {
      std::cout << "the next version has to wait: " << next.error().message() << std::endl;
    }
    has_said_so = true;
    co_await tandem::sleep_for(100ms);
  }
}

/// Gives the sockets to whoever asks, and ends when that one serves: not before, since it may fail.
task<void> wait_for_next_version(io::unix_listener control, io::native_descriptor web) {
  while (true) {
    io::unix_stream next = co_await next_version(control);
    const std::array<io::native_descriptor, 2> both{web, control.native_handle()};
    std::array<std::byte, 1> word{};
    auto given = co_await tandem::as_result(tandem::with_timeout(10s, next.write_with(word, both)));
    if (!given) continue;
    const auto ready = co_await tandem::as_result(tandem::with_timeout(10s, next.read(word)));
    if (ready && ready.value() == 1) co_return;
    std::cout << "the next version did not begin to serve: going on\n";
  }
}

task<void> serve_until_replaced(sockets own, std::optional<io::unix_stream> older) {
  io::signal_set signals({SIGINT, SIGTERM});
  const io::native_descriptor web = own.web.native_handle();
  std::cout << "listening on " << own.web.local_endpoint().to_string() << std::endl;
  io::serve_options options;
  options.drain_timeout = 30s;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(own.web), answer, options));
    // Ready. An older version that was ended meanwhile does not hear it, and need not.
    if (older) (void)co_await tandem::as_result(older->write_all(io::bytes_of("r")));
    older.reset();
    co_await tandem::when_any(wait_for_next_version(std::move(own.control), web), signals.wait());
    std::cout << "finishing what is here" << std::endl;
    scope.request_stop();
  });
}

task<int> run_server(std::uint16_t port, std::string path,
                     std::vector<io::inherited_socket> inherited) {
  const auto control = io::unix_endpoint::path(path);
  std::optional<io::unix_stream> older = co_await find_older_version(control);
  sockets own;
  if (older) {
    inherited.clear();  // the older version's are what clients know
    own = co_await take_over(*older);
  } else {
    own = bind(port, control, std::move(inherited));
  }
  co_await serve_until_replaced(std::move(own), std::move(older));
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 8080;
  std::string control = "/tmp/graceful_restart.control";
  CLI::App app("Echoes lines with its process number; a second start takes the sockets over");
  app.option_defaults()->always_capture_default();
  app.add_option("--port", port, "0 picks a free one; not used by one that takes over");
  app.add_option("--control", control, "Unix socket at which the next version asks");
  CLI11_PARSE(app, argc, argv);
  try {
    // Before there are other threads: it changes the environment.
    auto inherited = io::inherited_sockets();
    tandem::runtime_options options;
    options.dump_on_signal = true;
    return tandem::run(run_server(port, control, std::move(inherited)), options);
  } catch (const std::exception& error) {
    std::cerr << "graceful_restart: " << error.what() << '\n';
    return 1;
  }
}
