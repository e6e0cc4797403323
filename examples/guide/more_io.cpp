// more_io.cpp: datagrams, Unix sockets, programs and folders, a few lines of each.
// SPDX-License-Identifier: MIT
//
// With an argument it counts the lines of its standard input.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/copy_both.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/file_watch.hpp>
#include <tandem/io/pipe.hpp>
#include <tandem/io/process.hpp>
#include <tandem/io/shared_streams.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <vector>

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

// Who cannot be sent to (no route, a firewall) goes without; the others get theirs.
task<void> send_all(io::udp_socket& socket, std::span<const io::outgoing_datagram> rest) {
  while (!rest.empty()) {
    const auto sent = co_await tandem::as_result(socket.send_many(rest));
    if (sent.is_cancelled()) co_return;  // the next wait says so
    rest = rest.subspan(sent ? sent.value() : 1);
  }
}

// Answers all datagrams that have come at once by one call, until it is stopped.
task<void> echo(io::udp_socket socket) {
  std::vector<io::received_datagram> got;
  std::vector<io::outgoing_datagram> answers;
  while (true) {
    do {
      got.push_back(co_await socket.receive());
    } while (socket.pending() != 0);
    for (const auto& each : got) {
      for (const auto datagram : each.segments()) answers.emplace_back(datagram, each.sender());
    }
    co_await send_all(socket, answers);
    answers.clear();
    got.clear();
  }
}

// Its first byte is the question's number: an answer that comes late is none to the next question.
task<std::size_t> answer_to(io::udp_socket& socket, std::byte number) {
  while (true) {
    const auto got = co_await socket.receive();
    for (const auto datagram : got.segments()) {
      if (!datagram.empty() && datagram.front() == number) co_return datagram.size() - 1;
    }
  }
}

// A datagram may be lost on the way, or its answer: so it is sent again.
task<std::size_t> ask(io::endpoint server, std::byte number, std::string question) {
  auto socket = io::udp_socket::connect(server);
  question.insert(0, 1, static_cast<char>(number));
  for (int attempt = 0; attempt < 5; ++attempt) {
    co_await socket.send(io::bytes_of(question));
    auto bytes = co_await tandem::as_result(tandem::with_timeout(1s, answer_to(socket, number)));
    if (bytes) co_return bytes.value();
  }
  co_return 0;
}

task<bool> datagrams() {
  auto server = io::udp_socket::bind(io::endpoint::loopback_v4(0));
  const auto here = server.local_endpoint();
  std::size_t bytes = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    tandem::executor& thread = server.thread_executor();
    scope.spawn(thread, echo(std::move(server)));
    bytes = co_await ask(here, std::byte{1}, "hello");
    scope.request_stop();
  });
  co_return bytes == 5;
}

// The peer gets a descriptor of its own for what ours refers to, here the socket itself.
task<bool> descriptors() {
  auto [one, other] = io::unix_stream::pair();
  co_await one.write_all_with(io::bytes_of("take this"), one.native_handle());
  std::array<std::byte, 64> room;
  const io::received_message got = co_await other.read_with(room);
  co_return got.bytes == 9 && got.descriptors.size() == 1;
}

// Other processes may use the same terminal or pipe: its mode stays as it is.
task<int> count_lines(io::shared_input input) {
  io::buffered_reader lines(input);
  int count = 0;
  while (const auto line = co_await lines.read_line()) count += line->empty() ? 0 : 1;
  co_return count;
}

task<bool> standard_streams() {
  auto [reader, writer] = io::make_pipe();
  co_await writer.write_all(io::bytes_of("one\n\ntwo\nthe last one has no end"));
  writer.close();
  co_return co_await count_lines(io::shared_input::of(reader.native_handle())) == 3;
}

// The connection stays open after send_file(); copy(page, client) would end it.
task<void> send_page(io::tcp_stream client, std::string path) {
  io::file page = co_await io::file::open(path);
  co_await client.write_all(io::bytes_of("page:\n"));
  co_await client.send_file(page);
}

// Each direction ends on its own. If one fails both are reset: a mere end would look complete.
task<void> proxy(io::tcp_stream client, io::endpoint server) {
  io::tcp_stream there = co_await io::tcp_stream::connect(server);
  const auto both = co_await tandem::as_result(io::copy_both(client, there));
  if (both) co_return;
  client.abort();
  there.abort();
  (void)both.value();  // throws
}

task<bool> moved_bytes(std::string folder) {
  co_await io::write_file(folder + "/page", "text");
  auto pages = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  auto front = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  int right = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    io::tcp_stream client = co_await io::tcp_stream::connect(front.local_endpoint());
    scope.spawn(proxy(co_await front.accept(), pages.local_endpoint()));
    scope.spawn(send_page(co_await pages.accept(), folder + "/page"));
    client.shutdown();
    io::buffered_reader lines(client);
    right += co_await lines.read_line() == "page:" ? 1 : 0;
    right += co_await lines.read_line() == "text" ? 1 : 0;
  });
  co_return right == 2;
}

task<std::string> first_words(std::string text) {
  io::process_options options;
  options.environment["LC_ALL"] = "C";
  const auto argv = io::command_line("cut", "-d", " ", "-f", "1,2");
  const auto out = co_await io::process::output(argv, options, text);
  if (!out.exit.success()) throw std::runtime_error("cut: " + out.exit.to_string());
  co_return out.standard_output;
}

// Both at once: a pipe that nobody reads takes some 64 KiB, and then the program waits for us.
task<std::size_t> shout(std::size_t count) {
  io::process_options options;
  options.standard_input = options.standard_output = io::process_stdio::pipe();
  const auto feed = [count](io::process& child) -> task<void> {
    for (std::size_t i = 0; i < count; ++i) {
      co_await child.standard_input().write_all(io::bytes_of("a line\n"));
    }
    child.standard_input().close();  // else it waits for more
  };
  const auto hear = [](io::process& child) -> task<std::size_t> {
    io::buffered_reader lines(child.standard_output());
    std::size_t heard = 0;
    while (const auto line = co_await lines.read_line()) heard += *line == "A LINE" ? 1 : 0;
    co_return heard;
  };
  const auto talk = [&](io::process& child) -> task<std::size_t> {
    const auto [fed, heard] = co_await tandem::when_all(feed(child), hear(child));
    co_return heard;
  };
  const auto argv = io::command_line("tr", "a-z", "A-Z");
  co_return co_await io::with_process(argv, options, talk);
}

// A program that does not end by itself: it is told to, and killed if it does not.
task<bool> programs() {
  io::process_options options;
  options.standard_output = io::process_stdio::pipe();
  options.on_scope_end = io::terminate_then_kill(2s);
  const auto read_some = [](io::process& child) -> task<std::size_t> {
    std::array<std::byte, 4> room;
    co_return co_await child.standard_output().read(room);
  };
  const auto argv = io::command_line("yes");
  const std::size_t bytes = co_await io::with_process(argv, options, read_some);
  const std::string words = co_await first_words("one two three\n");
  co_return bytes > 0 && words == "one two\n" && co_await shout(30'000) == 30'000;
}

task<bool> time_limits() {
  io::process_options options;
  options.group = io::process_group::own();  // what it has started ends with it
  options.output_time_limit = 100ms;
  options.on_scope_end = io::terminate_then_kill(2s);
  const auto argv = io::command_line("sh", "-c", "echo begun; sleep 1000");
  const auto out = co_await io::process::output(argv, options);
  co_return out.timed_out && !out.exit.success();
}

task<std::uint64_t> files_beneath(std::string folder) {
  std::atomic<std::uint64_t> files = 0;
  const auto count = [&files](const io::walk_batch& found) {
    for (const auto entry : found) files += entry.kind() == io::file_kind::regular ? 1 : 0;
  };
  co_await io::walk(folder, count);
  co_return files;
}

task<std::uint64_t> bytes_beneath(std::string folder) {
  io::walk_options options;
  options.with_status = true;
  std::atomic<std::uint64_t> bytes = 0;
  const auto add = [&bytes](const io::walk_batch& found) {
    for (const auto entry : found) {
      const io::file_status* const status = entry.status();  // null: gone meanwhile
      if (status != nullptr && entry.kind() == io::file_kind::regular) bytes += status->size;
    }
  };
  co_await io::walk(folder, add, options);
  co_return bytes;
}

// Files that come whole: written under another name and then renamed, as write_file() does it.
task<std::string> next_arrival(io::file_watch& inbox) {
  while (true) {
    const io::file_change change = co_await inbox.next();
    if (change.kind == io::change_kind::moved_to) co_return change.name;
  }
}

// First the watch, then the look: what is made meanwhile is listed or told, so that none is missed.
task<void> watch_tree(io::file_watch& watch, std::string folder) {
  co_await watch.add(folder, io::watch_for::names);
  auto entries = io::list_directory(folder);
  while (const auto entry = co_await entries.next()) {
    if (entry->kind != io::file_kind::directory) continue;
    co_await watch_tree(watch, folder + "/" + entry->name);
  }
}

task<bool> arrivals(std::string folder) {
  io::file_watch inbox;
  co_await inbox.add(folder, io::watch_for::names);
  co_await io::write_file(folder + "/letter", "text");
  if (co_await next_arrival(inbox) != "letter") co_return false;
  co_await io::make_directories(folder + "/a/b");
  io::file_watch all;
  co_await watch_tree(all, folder);
  co_await io::write_file(folder + "/a/b/letter", "text");
  co_return co_await next_arrival(all) == "letter";
}

// Whatever happens in between, the folder and all that is in it are gone afterwards.
task<bool> folders() {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  const auto fill = [&](io::temporary_directory& scratch) -> task<void> {
    co_await io::make_directories(scratch.path() + "/a/b/c");
    co_await io::write_file(scratch.path() + "/a/b/c/file", "text");
    co_await io::make_symbolic_link("b/c/file", scratch.path() + "/a/link");
    files = co_await files_beneath(scratch.path());
    bytes = co_await bytes_beneath(scratch.path());
  };
  co_await io::with_temporary_directory(fill);
  co_return files == 1 && bytes == 4;
}

task<bool> in_a_folder(task<bool> (*use)(std::string)) {
  const auto here = [use](io::temporary_directory& scratch) { return use(scratch.path()); };
  try {
    co_return co_await io::with_temporary_directory(here);
  } catch (const std::system_error& failure) {
    if (failure.code() != std::errc::not_supported) throw;  // file_watch, where it is not Linux
  }
  co_return true;
}

task<int> all_of_them() {
  int right = 0;
  right += co_await datagrams() ? 1 : 0;
  right += co_await descriptors() ? 1 : 0;
  right += co_await standard_streams() ? 1 : 0;
  right += co_await in_a_folder(&moved_bytes) ? 1 : 0;
  right += co_await programs() ? 1 : 0;
  right += co_await time_limits() ? 1 : 0;
  right += co_await folders() ? 1 : 0;
  right += co_await in_a_folder(&arrivals) ? 1 : 0;
  std::printf("%d of 8 are right\n", right);
  co_return right == 8 ? 0 : 1;
}

task<int> of_standard_input() {
  const int lines = co_await count_lines(io::standard_input());
  std::printf("%d lines\n", lines);
  co_return 0;
}

int main(int argc, char** /*argv*/) {
  return argc > 1 ? tandem::run(of_standard_input()) : tandem::run(all_of_them());
}
