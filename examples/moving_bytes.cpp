// moving_bytes.cpp: files and connections, passed on by the system and not through the program.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <cstdio>
#include <string>
#include <tandem/io/copy.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/when_all.hpp>
#include <tuple>
#include <utility>

namespace io = tandem::io;
using tandem::task;

class both_ends {
 public:
  io::tcp_stream client;
  io::tcp_stream server;
};

task<both_ends> connected() {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  both_ends made;
  made.client = co_await io::tcp_stream::connect(listener.local_endpoint());
  made.server = co_await listener.accept();
  co_return made;
}

io::open_options to_be_written() {
  io::open_options options(io::open_mode::write);
  options.create = options.truncate = true;
  return options;
}

// From the page cache to the socket; what is on the disk only is read first, while nobody waits.
task<std::uint64_t> send(const std::string& path, io::tcp_stream& to) {
  io::file page = co_await io::file::open(path);
  co_return co_await io::copy(page, to);
}

task<std::uint64_t> store(io::tcp_stream& from, const std::string& path) {
  io::file copy = co_await io::file::open(path, to_be_written());
  co_return co_await io::copy(from, copy);
}

task<int> pass_on(std::string folder) {
  const std::string page = folder + "/page";
  const std::string text(20'000'000, 'x');
  co_await io::write_file(page, text);
  both_ends front = co_await connected();
  both_ends back = co_await connected();
  // In the middle a proxy, whose bytes go through a pipe of the system's where many come at once.
  auto moved =
      co_await tandem::when_all(send(page, front.client), io::copy(front.server, back.client),
                                store(back.server, folder + "/stored"));
  // And by the file system alone.
  io::file from = co_await io::file::open(page);
  io::file to = co_await io::file::open(folder + "/copied", to_be_written());
  const std::uint64_t copied = co_await io::copy(from, to);
  const std::string stored = co_await io::read_file(folder + "/stored");
  const bool is_right = copied == text.size() && stored == text;
  std::printf("%llu bytes stored, %llu copied: %s\n",
              static_cast<unsigned long long>(std::get<2>(moved)),
              static_cast<unsigned long long>(copied), is_right ? "right" : "wrong");
  co_return is_right ? 0 : 1;
}

task<int> in_a_folder_of_its_own() {
  const auto use = [](io::temporary_directory& scratch) { return pass_on(scratch.path()); };
  co_return co_await io::with_temporary_directory(use);
}

int main() { return tandem::run(in_a_folder_of_its_own()); }
