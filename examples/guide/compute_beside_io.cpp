// compute_beside_io.cpp: a server whose answers have to be computed, and a library that blocks.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task_scope.hpp>
#include <thread>

namespace io = tandem::io;
using tandem::task;

// How many ways there are to put n queens on a board of n x n; each row is a fork.
task<long> count_queens(unsigned full, unsigned columns, unsigned left, unsigned right) {
  if (columns == full) co_return 1;
  std::vector<task<long>> rows;
  for (unsigned free = full & ~(columns | left | right); free != 0; free &= free - 1) {
    const unsigned queen = free & (~free + 1);
    rows.push_back(count_queens(full, columns | queen, (left | queen) << 1, (right | queen) >> 1));
  }
  long sum = 0;
  for (const long each : co_await tandem::fork_join(std::move(rows))) sum += each;
  co_return sum;
}

// This coroutine moves to the workers; whoever awaits it goes on where it was.
task<long> queens(int n) {
  co_await tandem::resume_on(tandem::workers());
  co_return co_await count_queens((1U << n) - 1, 0, 0, 0);
}

// A connection lives on the thread that serves its socket, and only waits there.
task<void> answer(io::tcp_stream client) {
  const auto home = std::this_thread::get_id();
  io::buffered_reader reader(client);
  while (auto line = co_await reader.read_until("\n", 16)) {
    const long ways = co_await queens(std::atoi(line->c_str()));
    const bool at_home = std::this_thread::get_id() == home;
    co_await client.write_all(io::bytes_of(std::to_string(ways) + (at_home ? "\n" : " (moved)\n")));
  }
}

// A call that blocks gets a thread that may block; no worker and no completion thread waits for it.
task<int> from_the_old_library() {
  co_return co_await tandem::blocking([] { return std::system("exit 3") == 0 ? 0 : 3; });
}

task<int> try_it() {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const auto here = listener.local_endpoint();
  std::string heard;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), answer));
    auto server = co_await io::tcp_stream::connect(here);
    co_await server.write_all(io::bytes_of("8\n"));
    io::buffered_reader reader(server);
    heard = (co_await reader.read_until("\n", 64)).value_or("");
    scope.request_stop();
  });
  const int code = co_await from_the_old_library();
  std::printf("%s ways; the library says %d\n", heard.c_str(), code);
  co_return heard == "92" && code == 3 ? 0 : 1;
}

int main() { return tandem::run(try_it()); }
