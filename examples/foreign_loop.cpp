// foreign_loop.cpp: a library with its own descriptor, timer and callbacks: driven by a loop, and awaited.
// SPDX-License-Identifier: MIT
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <tandem/clock.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/run.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>

namespace io = tandem::io;
using namespace std::chrono_literals;

// It knows neither tasks nor tandem: its user says when its descriptor, or its time, has come.
class oracle {
 public:
  using answered = std::function<void(std::string)>;
  explicit oracle(int descriptor) : descriptor_(descriptor) {}
  int descriptor() const { return descriptor_; }
  void ask(std::string_view question, answered then) {
    then_ = std::move(then);
    if (::write(descriptor_, question.data(), question.size()) < 0) end("cannot ask");
  }
  void can_read() {
    std::array<char, 64> text{};
    const ssize_t size = ::read(descriptor_, text.data(), text.size());
    if (size > 0) end(std::string(text.data(), static_cast<std::size_t>(size)));
  }
  void end(std::string text) {
    if (const answered then = std::exchange(then_, nullptr)) then(std::move(text));
  }

 private:
  int descriptor_;
  answered then_;
};

// Another thread may write to it.
struct wake_up {
  wake_up() = default;
  wake_up(const wake_up&) = delete;
  ~wake_up() { ::close(descriptor); }
  void call() const noexcept { ::eventfd_write(descriptor, 1); }
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

// All of the glue. A stop comes on its stopper's thread, and the library may be called on the
// loop's only: so it goes there through a descriptor.
tandem::task<std::string> ask(io::foreign_loop& loop, oracle& library, std::string_view question,
                              std::chrono::milliseconds limit) {
  const wake_up stopped;
  const auto start = [&](auto done) {
    loop.watch(library.descriptor(), io::watch_interest::read,
               [&library](int, io::ready_events) { library.can_read(); });
    loop.watch(stopped.descriptor, io::watch_interest::read, [&](int itself, io::ready_events) {
      loop.forget(itself);
      library.end("stopped");
    });
    loop.deadline(tandem::now() + limit, [&library] { library.end("no answer"); });
    library.ask(question, std::move(done));
  };
  const auto on_stop = [&]() noexcept { stopped.call(); };
  std::string answer =
      co_await tandem::from_callback<void(std::string)>(start, tandem::as_values, on_stop);
  loop.forget(library.descriptor());
  loop.forget(stopped.descriptor);
  loop.no_deadline();
  co_return answer;
}

// The other end: it answers one question only.
tandem::task<void> answer_once(int descriptor) {
  co_await io::readable(descriptor);
  if (char byte = 0; ::read(descriptor, &byte, 1) == 1) (void)!::write(descriptor, "42", 2);
}

tandem::task<int> use() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) co_return 1;
  auto other = tandem::spawn(answer_once(ends[1]));
  oracle library(ends[0]);
  std::string first, second, third;
  co_await io::with_foreign_loop([&](io::foreign_loop& loop) -> tandem::task<void> {
    first = co_await ask(loop, library, "the answer?", 60s);
    second = co_await ask(loop, library, "the question?", 10ms);
    third = co_await tandem::with_timeout(10ms, ask(loop, library, "and now?", 60s));
  });
  co_await other;
  std::cout << first << ", " << second << ", " << third << std::endl;
  co_return first == "42" && second == "no answer" && third == "stopped" ? 0 : 1;
}

int main() { return tandem::run(use()); }
