// executors.cpp: a strand instead of a lock, a thread of its own, fair shares, priorities.
// SPDX-License-Identifier: MIT
#include <iostream>
#include <map>
#include <string>
#include <tandem/fair_scheduler.hpp>
#include <tandem/priority_scheduler.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>

using tandem::task;

// No lock: only tasks on the strand touch it, and between two awaits nobody else runs there.
struct stock {
  explicit stock(tandem::executor& below) : home(below, "stock") {}
  tandem::strand home;
  std::map<std::string, int> items;
};

task<void> deliver(stock& to, std::string what) {
  co_await tandem::resume_on(to.home);
  ++to.items[what];  // an await in the middle would let others in
}

// Libraries that insist on one thread get one.
task<int> query(tandem::executor& database, std::thread::id& of_last_query) {
  co_await tandem::resume_on(database);
  const auto last = std::exchange(of_last_query, std::this_thread::get_id());
  co_return last == std::thread::id() || last == of_last_query ? 0 : 1;  // mistakes
}

task<void> segments(std::string& log, char letter, int count) {
  for (int i = 0; i < count; ++i) {
    log += letter;
    co_await tandem::yield();
  }
}

task<int> shop(tandem::executor& workers, tandem::executor& database) {
  int mistakes = 0;
  stock apples(workers);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < 1000; ++i) scope.spawn(deliver(apples, "apples"));
    co_return;
  });
  if (apples.items["apples"] != 1000) ++mistakes;

  std::thread::id thread;
  for (int i = 0; i < 10; ++i) mistakes += co_await query(database, thread);

  std::string shares;
  std::string order;
  tandem::fair_scheduler fair(database);
  tandem::priority_scheduler levels(database);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    co_await tandem::resume_on(database);  // what is spawned from here waits until this has ended
    scope.spawn(fair.add_queue(1, "free"), segments(shares, 'f', 3));
    scope.spawn(fair.add_queue(3, "gold"), segments(shares, 'g', 9));
    scope.spawn(levels.level(tandem::priority::low), segments(order, 'l', 3));
    scope.spawn(levels.level(tandem::priority::high), segments(order, 'h', 3));
  });
  std::cout << shares << ' ' << order << '\n';
  if (shares != "fgggfgggfggg" || order != "hhhlll") ++mistakes;
  co_return mistakes;
}

int main() {
  tandem::runtime runtime;
  tandem::single_thread_executor database(runtime, "database");
  const int mistakes = tandem::sync_wait(runtime.workers(), shop(runtime.workers(), database));
  std::cout << (mistakes == 0 ? "as expected\n" : "something is wrong\n");
  return mistakes == 0 ? 0 : 1;
}
