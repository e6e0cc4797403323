// debugged_io.cpp: a program that stands still with tasks that wait for I/O, for debugged_io_test.py.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <thread>

#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/tandem.hpp>

namespace {

std::atomic<int> waiting{0};

tandem::task<void> reads(tandem::io::tcp_stream stream) {
  std::array<std::byte, 16> buffer{};
  ++waiting;
  (void)co_await stream.read(buffer);  // line: read
}
tandem::task<void> receives(tandem::io::tcp_stream stream) {
  ++waiting;
  (void)co_await stream.receive();  // line: receive
}
tandem::task<void> accepts(tandem::io::tcp_listener& listener) {
  ++waiting;
  (void)co_await listener.accept();  // line: accept
}
tandem::task<void> serves() {
  auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
  auto client = co_await tandem::io::tcp_stream::connect(listener.local_endpoint());
  auto server = co_await listener.accept();
  co_await tandem::when_all(reads(std::move(server)), receives(std::move(client)),
                            accepts(listener));
}

}  // namespace

// The test stops here.
extern "C" TANDEM_NOINLINE void all_is_set() { waiting = 0; }

int main() {
  tandem::runtime_options options;
  options.min_threads = options.max_threads = 1;
  options.adaptive = false;
  tandem::runtime runtime(options);
  auto served = runtime.spawn(serves());
  while (waiting != 3) std::this_thread::yield();
  // With one worker this one runs when those three wait.
  runtime.spawn([]() -> tandem::task<void> { co_return; }()).wait();
  while (runtime.live_tasks() != 1) std::this_thread::yield();  // that one may not have left yet
  all_is_set();
  return 1;
}
