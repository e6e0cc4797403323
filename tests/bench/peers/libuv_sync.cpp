// libuv_sync.cpp: suite sync by libuv: a million timers in one loop. A callback each, no tasks: it has no other case.
// SPDX-License-Identifier: MIT
#include <uv.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../sync/problems.hpp"

namespace {

using namespace tandem::bench;

/// A loop with so many timers, each allocated for itself as a program's own objects would be.
class timers {
 public:
  explicit timers(long n) {
    uv_loop_init(&loop_);
    for (long i = 0; i < n; ++i) {
      timers_.push_back(std::make_unique<uv_timer_t>());
      uv_timer_init(&loop_, timers_.back().get());
      timers_.back()->data = &fired_;
    }
  }
  ~timers() {
    for (const auto& timer : timers_)
      uv_close(reinterpret_cast<uv_handle_t*>(timer.get()), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }

  void start(long which, std::uint64_t milliseconds) {
    const auto fire = [](uv_timer_t* timer) { ++*static_cast<long*>(timer->data); };
    uv_timer_start(timers_[static_cast<std::size_t>(which)].get(), fire, milliseconds, 0);
  }
  void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
  long fired() const { return fired_; }

 private:
  uv_loop_t loop_;
  std::vector<std::unique_ptr<uv_timer_t>> timers_;
  long fired_ = 0;
};

void sleeps(long n) {
  timers all(n);
  random_durations random;
  for (long i = 0; i < n; ++i) {
    all.start(i, static_cast<std::uint64_t>(random.next_nanoseconds() / 1'000'000));
  }
  all.run();
  expect_equal(all.fired(), n, "the number of timers that fired");
}

double sleep_cpu(int) {
  const long n = scaled(problems::sleep_1m.n);
  sleeps(1000);
  const double before = cpu_nanoseconds();
  sleeps(n);
  return (cpu_nanoseconds() - before) / static_cast<double>(n);
}

double sleep_memory(int) {
  const long n = scaled(problems::sleep_1m_memory.n);
  timers all(n);
  for (long i = 0; i < n; ++i) all.start(i, 3'600'000);
  return resident_megabytes();
}

}  // namespace

int main(int argc, char** argv) {
  case_list cases;
  problem one_thread = problems::sleep_1m;
  one_thread.threads = 1;
  cases.push_back(row(one_thread, "libuv", "peer", sleep_cpu));
  cases.push_back(row(problems::sleep_1m_memory, "libuv", "peer", sleep_memory));
  return run_main(argc, argv, cases, std::string("libuv ") + uv_version_string());
}
