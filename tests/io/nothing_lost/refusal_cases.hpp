// refusal_cases.hpp: what programs do with a completion pool, from their start to their end, each in a function.
// SPDX-License-Identifier: MIT
//
// For tests in which the system refuses something once. Whatever is refused has to arrive as an
// exception, or as an error that a hook or a peer is told of, and nothing may stay behind.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <system_error>
#include <tandem/io/install.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>

#include "io/support/io_support.hpp"

namespace tandem::test {

/// A small pool in a small runtime, whose threads are named refused-...: of the worker refused-0, of
/// the pool refused-io-0, refused-io-watch.
class refused_program {
 public:
  explicit refused_program(const io::completion_options& options = few_threads(1, 1))
      : rt_(named()), pool_(io::install(rt_, options)) {}

  runtime& operator*() noexcept { return rt_; }
  runtime* operator->() noexcept { return &rt_; }
  io::completion_pool& pool() noexcept { return pool_; }

  /// Runs `body` where its I/O is.
  template <class T>
  T run_at_home(task<T> body) {
    return sync_wait(pool_.thread(0).executor(), std::move(body));
  }
  template <class T>
  T run(task<T> body) {
    return sync_wait(rt_.workers(), std::move(body));
  }

  /// Little of everything, so that little is asked of the system.
  static io::completion_options few_threads(unsigned least, unsigned most) {
    io::completion_options options = threads_between(least, most);
    options.ring_entries = 16;
    options.receive_buffers = 4;
    options.max_receive_buffers = 16;
    options.receive_buffer_bytes = 64;
    return options;
  }

 private:
  static runtime_options named() {
    runtime_options options = with_threads(1);
    options.name = "refused";
    return options;
  }

  runtime rt_;
  io::completion_pool& pool_;
};

/// A pool that is made, and ends.
void start_and_end();
/// Tasks on a confined home, on the pool's, and back on the workers.
void run_tasks();
/// Timers that a completion thread drives.
void wait_for_timers();
/// Connections: connect, accept, read, write, vectored, from the sockets' home and from workers.
void exchange_bytes();
/// receive() and incoming().
void receive_and_take_incoming();
/// Tasks of more homes than a thread keeps lists for become ready at once.
void bring_many_homes_at_once();
/// Many connections at once, of which each is taken, or told of as a failure.
void accept_a_burst();
/// A server, clients that do not use tandem, a drain.
void serve_clients();
/// Files: by the ring, by the page cache, by blocking(); whole files, which are the old one or the
/// new one.
void use_files();
/// What use_files() has left in its folder: the two that it uses, and the copy of one.
std::size_t files_left();
/// resize() up and down, with operations and receivers that move.
void resize_and_go_on();
/// A pool that grows by itself.
void grow_by_itself();
/// A library that calls back: its descriptors, and its timer.
void drive_a_library();
/// Readiness, signals, names, several addresses, readers, writers, frames, copies.
void use_the_rest();
/// The runtime ends while connections are open, received from and accepted on.
void end_with_open_connections();

}  // namespace tandem::test
