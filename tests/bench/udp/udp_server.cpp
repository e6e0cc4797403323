// udp_server.cpp: tandem's echo of datagrams in suite udp. udp_tandem PORT THREADS single|bare|trains|one
// SPDX-License-Identifier: MIT
//
// `single` answers all datagrams that have come at once by one call, and so does `bare`, whose socket
// neither gathers nor tells marks; `trains` answers each train by a train, `one` each datagram by a
// call of its own. The backend is that of TANDEM_IO_BACKEND.
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <tandem/io/install.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "../io/command_line.hpp"

namespace {

namespace io = tandem::io;

tandem::task<void> echo_one(io::udp_socket socket) {
  while (true) {
    auto got = co_await socket.receive();
    co_await socket.send_to(got.bytes(), got.sender());
  }
}

tandem::task<void> echo_batches(io::udp_socket socket) {
  std::vector<io::received_datagram> got;
  std::vector<io::outgoing_datagram> answers;
  while (true) {
    do {
      got.push_back(co_await socket.receive());
    } while (socket.pending() != 0);
    for (const io::received_datagram& each : got) answers.emplace_back(each.bytes(), each.sender());
    co_await socket.send_many(answers);
    answers.clear();
    got.clear();
  }
}

tandem::task<void> echo_trains(io::udp_socket socket) {
  while (true) {
    auto got = co_await socket.receive();
    co_await socket.send_train_to(got.bytes(), got.segment_bytes(), got.sender());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  const std::string_view mode = command.mode;
  tandem::runtime_options pools;
  pools.min_threads = 1;
  tandem::runtime owner(pools);
  io::completion_options completion;
  completion.min_threads = static_cast<unsigned>(command.threads);
  completion.adaptive = false;
  io::completion_pool& pool = io::install(owner, completion);
  io::udp_options options;
  options.receive_buffer_bytes = options.send_buffer_bytes = std::size_t{4} << 20;
  options.gathers = options.tells_marks = mode != "bare";
  auto socket = io::udp_socket::bind(pool, io::endpoint::loopback_v4(command.port), options);
  tandem::executor& home = socket.thread_executor();
  if (mode == "single" || mode == "bare") owner.spawn(home, echo_batches(std::move(socket))).wait();
  if (mode == "trains") owner.spawn(home, echo_trains(std::move(socket))).wait();
  if (mode == "one") owner.spawn(home, echo_one(std::move(socket))).wait();
  std::fprintf(stderr, "usage: %s PORT THREADS single|bare|trains|one\n", argv[0]);
  return 2;
}
