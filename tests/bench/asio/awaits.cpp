// awaits.cpp: suite asio: a loop of operations, awaited by tandem's tasks and by Asio's own coroutines.
// SPDX-License-Identifier: MIT
//
// Everything happens in one io_context on one thread, the tasks of tandem included, so nothing but
// the awaits differs. Ready: a byte of a full socket. Pending: two that send a byte to and fro, so
// that each read has to wait for the other's write.
#include <sys/socket.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/use_awaitable.hpp>
#include <tandem/asio.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>
#include <vector>

#include "../sync/problems.hpp"
#include "suite.hpp"

namespace tandem::bench::interop {

namespace {

using socket = asio::local::stream_protocol::socket;
constexpr long reads = 400'000;
constexpr long chunk = 4'000;  // bytes that a socket holds

class socket_pair {
 public:
  explicit socket_pair(asio::io_context& context) : a(context), b(context) {
    asio::local::connect_pair(a, b);
    a.non_blocking(true);
    b.non_blocking(true);
  }
  void fill(long bytes) {
    const std::vector<char> data(static_cast<std::size_t>(bytes));
    asio::write(b, asio::buffer(data));
  }
  socket a;
  socket b;
};

// The two below differ in the type of the coroutine and the token only.

task<void> read_all(socket_pair& sockets, long count) {
  std::array<char, 1> byte{};
  while (count > 0) {
    sockets.fill(chunk);
    for (long i = 0; i < chunk; ++i) {
      co_await sockets.a.async_read_some(asio::buffer(byte), use_await);
    }
    count -= chunk;
  }
}
asio::awaitable<void> read_all_by_asio(socket_pair& sockets, long count) {
  std::array<char, 1> byte{};
  while (count > 0) {
    sockets.fill(chunk);
    for (long i = 0; i < chunk; ++i) {
      co_await sockets.a.async_read_some(asio::buffer(byte), asio::use_awaitable);
    }
    count -= chunk;
  }
}

task<void> to_and_fro(socket& own, long count, bool begins) {
  std::array<char, 1> byte{};
  for (long i = 0; i < count; ++i) {
    if (begins || i > 0) asio::write(own, asio::buffer(byte));
    co_await own.async_read_some(asio::buffer(byte), use_await);
  }
  if (!begins) asio::write(own, asio::buffer(byte));
}
asio::awaitable<void> to_and_fro_by_asio(socket& own, long count, bool begins) {
  std::array<char, 1> byte{};
  for (long i = 0; i < count; ++i) {
    if (begins || i > 0) asio::write(own, asio::buffer(byte));
    co_await own.async_read_some(asio::buffer(byte), asio::use_awaitable);
  }
  if (!begins) asio::write(own, asio::buffer(byte));
}

class tandem_reads {
 public:
  tandem_reads() : runtime_(one_worker()) {}
  void run(asio::io_context& context, socket_pair& sockets, long count, bool pending) {
    if (pending) {
      spawn_into(runtime_, context, to_and_fro(sockets.a, count / 2, true), asio::detached);
      spawn_into(runtime_, context, to_and_fro(sockets.b, count / 2, false), asio::detached);
    } else {
      spawn_into(runtime_, context, read_all(sockets, count), asio::detached);
    }
    context.run();
  }

 private:
  static runtime_options one_worker() {
    runtime_options options;
    options.min_threads = options.max_threads = 1;
    return options;
  }
  runtime runtime_;
};

class asio_reads {
 public:
  static void run(asio::io_context& context, socket_pair& sockets, long count, bool pending) {
    if (pending) {
      asio::co_spawn(context, to_and_fro_by_asio(sockets.a, count / 2, true), asio::detached);
      asio::co_spawn(context, to_and_fro_by_asio(sockets.b, count / 2, false), asio::detached);
    } else {
      asio::co_spawn(context, read_all_by_asio(sockets, count), asio::detached);
    }
    context.run();
  }
};

enum class counted : bool { time, allocations };

template <class Reads>
bench_case row(const char* name, const char* input, const char* impl, const char* role,
               bool pending, counted what) {
  bench_case made;
  made.name = name;
  made.impl = impl;
  made.role = role;
  made.unit = what == counted::time ? "ns/read" : "allocations/read";
  made.better = "lower";
  made.input = input;
  made.threads = {1};
  made.sample = [=](int) {
    asio::io_context context;
    socket_pair sockets(context);
    Reads reader;
    const loop work = [&](long count) {
      context.restart();
      reader.run(context, sockets, (count + chunk - 1) / chunk * chunk, pending);
    };
    const long count = pool::scaled(reads);
    return what == counted::time ? nanoseconds(count, work) : allocations(count, work);
  };
  return made;
}

void add(case_list& cases, const char* name, const char* input, bool pending, counted what) {
  cases.push_back(row<tandem_reads>(name, input, "tandem", "self", pending, what));
  cases.push_back(row<asio_reads>(name, input, "asio", "peer", pending, what));
}

}  // namespace

void add_awaits(case_list& cases) {
  constexpr const char* ready = "400,000 reads of a byte that is there, in one io_context";
  constexpr const char* pending =
      "two that send a byte to and fro, 400,000 reads, in one io_context; with the write";
  add(cases, "await_ready", ready, false, counted::time);
  add(cases, "await_pending", pending, true, counted::time);
  add(cases, "allocs_await_ready", "as await_ready", false, counted::allocations);
  add(cases, "allocs_await_pending", "as await_pending", true, counted::allocations);
}

}  // namespace tandem::bench::interop
