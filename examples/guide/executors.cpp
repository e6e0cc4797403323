// executors.cpp: what people from .NET and Java look for: a bounded pool, one at a time, an orderly end.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <string>
#include <tandem/pool_state.hpp>
#include <tandem/rejected.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/strand.hpp>
#include <tandem/sync_wait.hpp>
#include <vector>

using namespace std::chrono_literals;
using tandem::task;

// new ThreadPoolExecutor(1, 4, ..., new ArrayBlockingQueue<>(8), new AbortPolicy())
tandem::runtime_options pool_of_four() {
  tandem::runtime_options options;
  options.min_threads = 1;
  options.max_threads = 4;
  options.submissions.queue = tandem::queue_kind::bounded;
  options.submissions.capacity = 8;
  options.submissions.when_saturated = tandem::saturation_policy::abort;
  options.growth = tandem::growth_order::queue_first;  // more threads when the queue is full
  return options;
}

task<int> work(int number) {
  co_await tandem::sleep_for(1ms);
  co_return number;
}

// submit() for each, then get() of each. Where the queue is full this one waits, and keeps no thread.
task<int> submit_all(tandem::worker_pool& pool) {
  std::vector<tandem::join_handle<int>> handles;
  for (int number = 1; number <= 100; ++number) {
    handles.push_back(co_await pool.submit_when_free(work(number)));
  }
  int sum = 0;
  for (auto& each : handles) sum += co_await each;
  co_return sum;
}

// Instead of a lock: what is spawned on one strand never runs at the same time.
task<void> book(tandem::strand& account, int amount, int& balance) {
  co_await tandem::resume_on(account);
  balance += amount;
}

task<int> balance_after(int bookings, tandem::worker_pool& pool) {
  tandem::strand account(pool, "account");
  int balance = 0;
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < bookings; ++i) handles.push_back(tandem::spawn(book(account, 1, balance)));
  for (auto& each : handles) co_await each;
  co_return balance;
}

int main() {
  tandem::runtime runtime(pool_of_four());
  tandem::worker_pool& pool = runtime.workers();
  const int sum = tandem::sync_wait(pool, submit_all(pool));
  const int balance = tandem::sync_wait(pool, balance_after(1000, pool));

  pool.shutdown();
  bool refused = false;
  try {
    pool.submit(work(1)).detach();
  } catch (const tandem::rejected& why) {
    refused = true;
    std::printf("%s\n", why.what());
  }
  const bool ended = pool.await_termination(10s);
  std::printf("sum %d, balance %d\n", sum, balance);
  return sum == 5050 && balance == 1000 && refused && ended ? 0 : 1;
}
