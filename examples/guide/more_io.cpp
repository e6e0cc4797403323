// more_io.cpp: datagrams, Unix sockets, programs and folders, a few lines of each.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/process.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

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
    co_await socket.send_many(answers);
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
  const std::array<io::native_descriptor, 1> sent{one.native_handle()};
  co_await one.write_with(io::bytes_of("take this"), sent);
  std::array<std::byte, 64> room;
  const io::received_message got = co_await other.read_with(room);
  co_return got.bytes == 9 && got.descriptors.size() == 1;
}

task<std::string> first_words(std::string text) {
  io::process_options options;
  options.environment["LC_ALL"] = "C";
  const auto argv = io::command_line("cut", "-d", " ", "-f", "1,2");
  const auto out = co_await io::process::output(argv, options, text);
  if (!out.exit.success()) throw std::runtime_error("cut: " + out.exit.to_string());
  co_return out.standard_output;
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
  co_return bytes > 0 && words == "one two\n";
}

task<std::uint64_t> files_beneath(std::string folder) {
  std::atomic<std::uint64_t> files = 0;
  const auto count = [&files](const io::walk_batch& found) {
    for (const auto entry : found) files += entry.kind() == io::file_kind::regular ? 1 : 0;
  };
  co_await io::walk(folder, count);
  co_return files;
}

// Whatever happens in between, the folder and all that is in it are gone afterwards.
task<bool> folders() {
  std::uint64_t files = 0;
  const auto fill = [&files](io::temporary_directory& scratch) -> task<void> {
    co_await io::make_directories(scratch.path() + "/a/b/c");
    co_await io::write_file(scratch.path() + "/a/b/c/file", "text");
    co_await io::make_symbolic_link("b/c/file", scratch.path() + "/a/link");
    files = co_await files_beneath(scratch.path());
  };
  co_await io::with_temporary_directory(fill);
  co_return files == 1;
}

task<int> all_of_them() {
  const bool by_datagram = co_await datagrams();
  const bool by_descriptor = co_await descriptors();
  const bool by_program = co_await programs();
  const bool by_folder = co_await folders();
  std::printf("%d %d %d %d\n", by_datagram, by_descriptor, by_program, by_folder);
  co_return by_datagram&& by_descriptor&& by_program&& by_folder ? 0 : 1;
}

int main() { return tandem::run(all_of_them()); }
