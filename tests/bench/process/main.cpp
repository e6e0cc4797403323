// main.cpp: suite process: programs that do nothing are started and waited for, by tandem and by posix_spawn.
// SPDX-License-Identifier: MIT
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/io/process.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <vector>

#include "../bench.hpp"
#include "../workers.hpp"

namespace {

using namespace tandem;

constexpr long most = 1200;
constexpr const char* program = "/bin/true";

double cpu_us() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& t) {
    return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

/// As tandem does it: no signal blocked, SIGPIPE at its default.
void spawn_in_turn(long count) {
  posix_spawnattr_t attributes;
  sigset_t signals;
  ::posix_spawnattr_init(&attributes);
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::sigaddset(&signals, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = program;
  char* argv[] = {name.data(), nullptr};
  for (long i = 0; i < count; ++i) {
    pid_t child = 0;
    int status = 0;
    bench::expect_equal(::posix_spawn(&child, program, nullptr, &attributes, argv, environ), 0,
                        "the answer of posix_spawn");
    bench::expect_equal(::waitpid(child, &status, 0), child, "the answer of waitpid");
    bench::expect_equal(status, 0, "the status");
  }
  ::posix_spawnattr_destroy(&attributes);
}

void spawn_by_threads(long count, int at_once) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < at_once; ++i) threads.emplace_back(spawn_in_turn, count / at_once);
}

task<void> start_in_turn(long count) {
  for (long i = 0; i < count; ++i) {
    io::process child = co_await io::process::start(io::command_line(program));
    const io::process_exit how = co_await child.wait();
    bench::expect_equal(how.code(), 0, "the exit code");
  }
}

task<void> start_all(long count, int at_once, bool by_completion_threads) {
  if (by_completion_threads) {
    co_await resume_on(io::current_completion_pool("bench").executor());
  }
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (int i = 0; i < at_once; ++i) scope.spawn(start_in_turn(count / at_once));
    co_return;
  });
}

/// Programs a second, or CPU time of this process a program.
template <class Work>
double figure(bool is_cpu, const Work& work) {
  work(most / 10);
  const double before = cpu_us();
  const double ns = bench::nanoseconds_per(most, [&] { work(most); });
  return is_cpu ? (cpu_us() - before) / most : 1e9 / ns;
}

bench::bench_case make_case(const std::string& impl, int at_once, bool is_cpu,
                            std::function<double(int)> sample) {
  bench::bench_case made;
  made.name = std::string("start_wait_") + std::to_string(at_once) + (is_cpu ? "_cpu" : "");
  made.impl = impl;
  made.role = impl == "posix_spawn" ? "floor" : "self";
  made.unit = is_cpu ? "us CPU" : "programs/s";
  made.better = is_cpu ? "lower" : "higher";
  made.input = std::string(program) + ", so many at a time";
  made.threads = {2};
  made.sample = std::move(sample);
  return made;
}

void add_cases(std::vector<bench::bench_case>& cases, int at_once, bool is_cpu) {
  for (const bool by_completion_threads : {false, true}) {
    const auto tandem_sample = [=](int threads) {
      bench::workers run(threads);
      return figure(is_cpu, [&](long n) { run(start_all(n, at_once, by_completion_threads)); });
    };
    cases.push_back(make_case(by_completion_threads ? "tandem_completion" : "tandem", at_once,
                              is_cpu, tandem_sample));
  }
  const auto floor_sample = [=](int) {
    return figure(is_cpu, [=](long n) { spawn_by_threads(n, at_once); });
  };
  cases.push_back(make_case("posix_spawn", at_once, is_cpu, floor_sample));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<tandem::bench::bench_case> cases;
  for (const int at_once : {1, 4}) {
    for (const bool is_cpu : {false, true}) add_cases(cases, at_once, is_cpu);
  }
  return tandem::bench::run_main(argc, argv, cases);
}
