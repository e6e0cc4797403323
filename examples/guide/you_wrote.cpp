// you_wrote.cpp: what people wrote with callbacks, Asio, libuv, Tokio, Go and threads, as one writes it here.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/blocking.hpp>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/mutex.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/select.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_resource.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

// Callbacks

// A library of yesterday, which calls back on threads of its own.
class directory {
 public:
  void find(const std::string& name, std::function<void(std::error_code, int)> done) {
    threads_.emplace_back([length = static_cast<int>(name.size()), done = std::move(done)] {
      done(length > 0 ? std::error_code() : std::make_error_code(std::errc::invalid_argument),
           length);
    });
  }
  void load(int id, std::function<void(std::string)> done) {
    threads_.emplace_back([id, done = std::move(done)] { done("record " + std::to_string(id)); });
  }

 private:
  std::vector<std::jthread> threads_;
};

// people.find(name, [=](std::error_code failed, int id) {
//   if (failed) return finished(failed, {});
//   people.load(id, [=](std::string text) { finished({}, text); });
// });
task<std::string> record_of(directory& people, std::string name) {
  const auto [failed, id] = co_await tandem::from_callback<void(std::error_code, int)>(
      [&](auto done) { people.find(name, std::move(done)); });
  if (failed) throw std::system_error(failed, "find");
  co_return co_await tandem::from_callback<void(std::string)>(
      [&, number = id](auto done) { people.load(number, std::move(done)); });
}

// Asio

// A class with socket, timer and buffer, shared_from_this() in each handler, and read(), on_read(),
// on_written(), on_timer().
task<void> echo(io::tcp_stream client) {
  std::array<std::byte, 4096> buffer;
  while (true) {
    const std::size_t size = co_await tandem::with_timeout(30s, client.read(buffer));
    if (size == 0) co_return;
    co_await client.write_all(std::span(buffer).first(size));
  }
}

task<void> say_hello(io::endpoint server, std::size_t& heard) {
  auto stream = co_await io::tcp_stream::connect(server);
  co_await stream.write_all(io::bytes_of("hello"));
  stream.shutdown();
  std::array<std::byte, 16> buffer;
  while (const std::size_t size = co_await stream.read(buffer)) heard += size;
}

task<std::size_t> served_once() {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  std::size_t heard = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(say_hello(listener.local_endpoint(), heard));
    co_await echo(co_await listener.accept());
  });
  co_return heard;
}

// asio::post(strand, [&] { ++count; });
task<void> count_up(int& count) {
  ++count;
  co_return;
}

task<int> counted(int times) {
  tandem::strand counting(tandem::workers());
  int count = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < times; ++i) scope.spawn(counting, count_up(count));
    co_return;
  });
  co_return count;
}

// libuv

long checksum() {  // takes a while, and a thread
  long sum = 0;
  for (long i = 0; i < 100'000; ++i) sum += i % 7;
  return sum;
}

// uv_queue_work(loop, &request, work, after_work); ... uv_async_send(&wake);
task<long> queued_work() {
  tandem::event wake;
  std::jthread other([&] { wake.set(); });  // any thread may
  co_await wake.wait();
  co_return co_await tandem::blocking(checksum);
}

// Tokio

// tokio::select! { job = jobs.recv() => ..., _ = sleep(limit) => ... }
task<std::string> next_job(tandem::channel<std::string>& jobs, std::chrono::milliseconds limit) {
  auto hit = co_await tandem::select(jobs.receive(), tandem::sleep_for(limit));
  if (hit.index() == 1) co_return "nothing to do";  // and no job was taken
  co_return std::move(hit).get<0>().value_or("closed");
}

// Go

// for n := range jobs { total.Add(n) }
task<void> add_up(tandem::channel<int>& jobs, std::atomic<int>& total) {
  while (const auto n = co_await jobs.receive()) total += *n;
}

// jobs := make(chan int, 8); for range 3 { wg.Add(1); go ... }; ...; close(jobs); wg.Wait()
task<int> added_by_three(int count) {
  tandem::channel<int> jobs(8);
  std::atomic<int> total = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < 3; ++i) scope.spawn(add_up(jobs, total));
    for (int n = 1; n <= count; ++n) co_await jobs.send(n);
    jobs.close();
  });
  co_return total;
}

class connection {
 public:
  explicit connection(int& open) : open_(&open) { ++*open_; }
  task<int> ask() { co_return *open_; }
  task<void> close() {
    co_await tandem::sleep_for(1ms);
    --*open_;
  }

 private:
  int* open_;
};

// c := dial(); defer c.close(); return c.ask()
task<int> asked(int& open) {
  co_return co_await tandem::with_resource(
      connection(open), [](connection& c) { return c.ask(); },
      [](connection& c) { return c.close(); });
}

// Threads

// std::scoped_lock lock(mutex); balance = store(balance + amount);
task<int> store(int value) {
  co_await tandem::sleep_for(1ms);
  co_return value;
}

task<void> deposit(tandem::mutex& lock, int& balance, int amount) {
  const auto guard = co_await lock.scoped_lock();  // held over the wait in the next line
  balance = co_await store(balance + amount);
}

task<int> deposited() {
  tandem::mutex lock;
  int balance = 0;
  co_await tandem::when_all(deposit(lock, balance, 1), deposit(lock, balance, 10));
  co_return balance;
}

// All of them

task<int> all_of_them() {
  directory people;
  const std::string record = co_await record_of(people, "Ann");
  const std::size_t heard = co_await served_once();
  const int count = co_await counted(1000);
  const long sum = co_await queued_work();
  tandem::channel<std::string> jobs(1);
  const std::string idle = co_await next_job(jobs, 1ms);
  co_await jobs.send("a job");
  const std::string job = co_await next_job(jobs, 1h);
  const int total = co_await added_by_three(100);
  int open = 0;
  const int asked_of = co_await asked(open);
  const int balance = co_await deposited();
  std::printf("%s, %zu, %d, %ld, %s, %s, %d, %d, %d\n", record.c_str(), heard, count, sum,
              idle.c_str(), job.c_str(), total, asked_of, balance);
  const bool right = record == "record 3" && heard == 5 && count == 1000 && sum == checksum() &&
                     idle == "nothing to do" && job == "a job" && total == 5050 && asked_of == 1 &&
                     open == 0 && balance == 11;
  co_return right ? 0 : 1;
}

int main() { return tandem::run(all_of_them()); }
