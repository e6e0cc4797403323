// tls_server.cpp: tandem's servers of suite tls. tls_tandem PORT THREADS MODE FOLDER [caller]
// SPDX-License-Identifier: MIT
//
// MODE is echo, source (asked once, it writes for ever) or sink; FOLDER has cert.pem and key.pem.
// Connections live on their completion thread. The computing of handshakes is done by the workers,
// with `caller` there, too. The backend is that of TANDEM_IO_BACKEND. When a client has said its
// farewell (close_notify) the connection is dropped without finish(), as nginx does it.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/tls.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "../io/command_line.hpp"
#include "../io/server.hpp"

namespace {

namespace io = tandem::io;

constexpr std::size_t bulk_bytes = 64 * 1024;

tandem::task<void> source(io::tls_stream client) {
  std::vector<std::byte> bytes(bulk_bytes, std::byte{'x'});
  auto asked = co_await tandem::as_result(client.read(bytes));
  if (!asked || asked.value() == 0) co_return;
  while (true) {
    auto sent = co_await tandem::as_result(client.write_all(bytes));
    if (!sent) co_return;
  }
}

tandem::task<void> sink(io::tls_stream client) {
  std::vector<std::byte> bytes(bulk_bytes);
  while (true) {
    auto got = co_await tandem::as_result(client.read(bytes));
    if (!got || got.value() == 0) co_return;
  }
}

io::tls::server_context context_of(const std::filesystem::path& folder, bool by_caller) {
  io::tls::server_options options;
  options.certificates.emplace_back(io::tls::pem::file(folder / "cert.pem"),
                                    io::tls::pem::file(folder / "key.pem"));
  if (by_caller) options.handshake_on = io::tls::handshake_home::caller;
  return io::tls::server_context(options);
}

template <class Handler>
int serve_encrypted(const tandem::bench::server_command& command,
                    const io::tls::server_context& context, Handler handler) {
  io::tls::accepting_options options;
  options.on_handshake_error = [](const std::exception_ptr&) {};  // clients that only look in
  return tandem::bench::serve_for_ever(command, io::handler_home::connection_thread,
                                       io::tls::accepting(context, handler, options));
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  const std::string_view mode = command.mode;
  if (argc >= 5) {
    const auto context = context_of(argv[4], argc > 5 && std::string_view(argv[5]) == "caller");
    if (mode == "echo")
      return serve_encrypted(command, context, tandem::bench::echo_by_reads<io::tls_stream>);
    if (mode == "source") return serve_encrypted(command, context, source);
    if (mode == "sink") return serve_encrypted(command, context, sink);
  }
  std::fprintf(stderr, "usage: %s PORT THREADS echo|source|sink FOLDER [caller]\n", argv[0]);
  return 2;
}
