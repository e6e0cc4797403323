// process_stress.cpp: children of 8 threads, some that cannot be run, stopped at any time, leave nothing behind.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/process.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/process/process_support.hpp"
#include "loopback_ports.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::join_handle;
using tandem::task;
using tandem::io::command_line;
using tandem::io::process;
using tandem::io::process_exit;
using tandem::io::process_options;
using tandem::io::process_start_error;
using tandem::io::process_stdio;
using tandem::io::process_step;

class counts {
 public:
  std::atomic<std::uint64_t> started{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> stopped{0};
};

/// Of what is no program: the test's own word for it is what it has to be.
task<void> cannot_be_run(counts& seen) {
  try {
    process child = co_await process::start(command_line("/dev/null"));
    ADD_FAILURE() << "it was started";
  } catch (const process_start_error& failure) {
    EXPECT_EQ(failure.code(), std::errc::permission_denied) << failure.what();
    EXPECT_EQ(failure.step(), process_step::exec);
    ++seen.refused;
  }
}

process_options reading() {
  process_options options;
  options.standard_input = process_stdio::pipe();
  options.standard_output = process_stdio::pipe();
  return options;
}

/// One life of a child: it ends by itself, is ended, or is left to the reaper.
task<void> one_child(std::uint64_t dice, counts& seen) {
  if (dice % 10 == 0) co_return co_await cannot_be_run(seen);
  process_options options = reading();
  if (dice % 3 == 0) options.on_scope_end = tandem::io::kill_at_once();
  ++seen.started;
  const bool is_cat = (dice >> 8) % 2 == 0;
  auto body = [&](process& child) -> task<process_exit> {
    if (is_cat) {
      std::array<std::byte, 8> room;
      co_await child.standard_input().write_all(tandem::io::bytes_of("echo"));
      EXPECT_EQ(co_await child.standard_output().read(room), 4U);
      child.standard_input().close();
    }
    co_return co_await child.wait();
  };
  const auto argv = command_line(is_cat ? "/bin/cat" : "/bin/true");
  switch ((dice >> 16) % 4) {
    case 0: {  // nobody waits for it
      options.on_scope_end = tandem::io::kill_at_once();
      const process child = co_await process::start(argv, options);
      break;
    }
    case 1: {  // it is ended
      process child = co_await process::start(argv, options);
      (void)co_await child.end();
      break;
    }
    default: EXPECT_TRUE((co_await tandem::io::with_process(argv, options, body)).success());
  }
}

/// Children one after the other, stopped at any time.
task<void> many_children(std::uint64_t seed, unsigned count, counts& seen) {
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < count; ++i) {
    join_handle<void> running = tandem::spawn(one_child(random(), seen));
    if (random() % 2 == 0) {
      co_await tandem::sleep_for(std::chrono::microseconds(random() % 2000));
      running.cancel();
    }
    const auto ended = co_await as_result(running);
    if (!ended) {
      EXPECT_TRUE(ended.is_cancelled()) << ended.error().message();
      ++seen.stopped;
    }
  }
}

TEST(process_race, children_of_8_threads_leave_no_zombie_and_no_descriptor) {
  tandem::test::test_runtime rt(8);
  tandem::io::install(*rt, tandem::test::steady_threads());
  counts seen;
  const std::uint64_t enough = tandem::test::is_nightly() ? 10'000 : 0;
  rt.run([](counts& all) -> task<void> {  // opens what stays: the ends of the reaper's pipe
    const process left = co_await process::start(command_line("/bin/true"));
    ++all.started;
  }(seen));
  while (tandem::test::has_children()) std::this_thread::sleep_for(1ms);
  const std::size_t before = tandem::test::open_descriptors();
  tandem::test::stress_until(
      500ms, [&] { return seen.started + seen.refused >= enough; },
      [&](std::mt19937_64& random) {
        rt.run([](counts& all, std::mt19937_64& dice) -> task<void> {
          co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
            for (int i = 0; i < 8; ++i) scope.spawn(many_children(dice(), 10, all));
            co_return;
          });
        }(seen, random));
        tandem::test::wait_for_reaper(before);
        EXPECT_LE(tandem::test::open_descriptors(), before);
      });
  std::printf("%llu children, %llu that could not be run, %llu stopped\n",
              static_cast<unsigned long long>(seen.started.load()),
              static_cast<unsigned long long>(seen.refused.load()),
              static_cast<unsigned long long>(seen.stopped.load()));
}

}  // namespace
