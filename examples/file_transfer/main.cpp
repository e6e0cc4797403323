// main.cpp: a file over UDP, through a network that loses some of it. file_transfer --help
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/run.hpp>

#include "receiver.hpp"
#include "sender.hpp"

namespace io = tandem::io;
using tandem::task;

namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

task<int> send_file(std::string host, std::uint16_t port, std::string path, double give_up) {
  io::file file = co_await io::file::open(path);
  const std::uint64_t size = (co_await file.status()).size;
  const auto receivers = co_await io::resolve(host, port);
  const auto begin = std::chrono::steady_clock::now();
  transfer::sender sending(io::udp_socket::connect(receivers.front()), std::move(file), size,
                           milliseconds(give_up));
  const transfer::totals took = co_await sending.run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << took.file_bytes << " bytes in " << took.segments << " segments, " << took.sent_again
            << " sent again; " << took.rounds_without_answer << " rounds without an answer; "
            << static_cast<double>(took.file_bytes) / seconds.count() / 1e6 << " MB/s" << std::endl;
  co_return 0;
}

task<int> receive_file(std::uint16_t port, std::string path, double linger_seconds,
                       std::uint64_t most_bytes) {
  io::udp_options options;
  options.receive_buffer_bytes = std::size_t{2} << 20;
  auto socket = io::udp_socket::bind(io::endpoint::loopback_v4(port), options);
  std::cout << "listening on " << socket.local_endpoint().to_string() << std::endl;
  transfer::receiver receiving(std::move(socket), path, most_bytes);
  std::cout << co_await receiving.run(milliseconds(linger_seconds)) << " bytes in " << path
            << std::endl;
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 7800;
  double linger = 5;
  std::uint64_t most_bytes = std::uint64_t{16} << 30;
  double give_up = 10;
  std::string host;
  std::string path;
  CLI::App app("Sends a file over UDP, again what is lost; one side receives, the other sends");
  app.option_defaults()->always_capture_default();
  app.add_option("--port", port, "of the receiver; 0 picks a free one");
  app.add_option("--linger", linger,
                 "seconds in which the receiver answers a sender that missed its last answer")
      ->check(CLI::Range(0.001, 3600.0));
  app.add_option("--most-bytes", most_bytes, "the receiver takes no longer file");
  app.add_option("--give-up", give_up, "seconds without an answer after which the sender ends")
      ->check(CLI::Range(0.001, 3600.0));
  app.require_subcommand(1);
  CLI::App* const receiving =
      app.add_subcommand("receive", "wait for a sender, and keep its file at PATH")->fallthrough();
  receiving->add_option("PATH", path)->required();
  CLI::App* const sending = app.add_subcommand("send", "send the file at PATH")->fallthrough();
  sending->add_option("HOST", host)->required();
  sending->add_option("PORT", port)->required();
  sending->add_option("PATH", path)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::runtime_options options;
    options.dump_on_signal = true;
    if (*sending) return tandem::run(send_file(host, port, path, give_up), options);
    return tandem::run(receive_file(port, path, linger, most_bytes), options);
  } catch (const std::exception& error) {
    std::cerr << "file_transfer: " << error.what() << '\n';
    return 1;
  }
}
