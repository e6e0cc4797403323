// planted_silent_descriptor.cpp: a client and a server, each of which waits for the other one's first line.
// SPDX-License-Identifier: MIT
//
// The mistake: the server has been written for clients that speak first, the client for servers that
// greet. No byte ever comes on either socket.
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "planted.hpp"

namespace {

namespace io = tandem::io;

// The last of both to get there.
void arrived(std::atomic<int>& there) {
  if (++there == 2) planted::stuck();
}

tandem::task<void> serve_mail(io::tcp_stream client, std::atomic<int>& there) {
  io::buffered_reader reader(client);
  arrived(there);
  auto line = co_await reader.read_until("\n", 512);  // culprit(request): the client says nothing
  co_await client.write_all(io::bytes_of("250 " + line.value_or("nothing\n")));
}

tandem::task<void> send_mail(std::uint16_t port, std::atomic<int>& there) {
  auto server = co_await io::tcp_stream::connect(io::endpoint::loopback_v4(port));
  io::buffered_reader reader(server);
  arrived(there);
  auto line = co_await reader.read_until("\n", 512);  // culprit(greeting): the server says nothing
  co_await server.write_all(io::bytes_of("HELO " + line.value_or("nobody\n")));
}

tandem::task<int> post_office() {
  std::atomic<int> there{0};
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(send_mail(port, there));  // culprit(client): reads, and so does its peer
    auto accepted = co_await listener.accept();
    scope.spawn(serve_mail(std::move(accepted), there));  // culprit(server): reads, too
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(post_office(), planted::options(argc, argv)); }
