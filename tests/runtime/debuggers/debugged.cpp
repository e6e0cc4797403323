// debugged.cpp: a program that stands still with tasks of every state, for debuggers_test.py.
// SPDX-License-Identifier: MIT
//
// One worker, so that the order is known: what waits has begun to before the next task runs. At last a task keeps the worker,
// and whatever is spawned then stays in its queue. "// line: NAME" is how the test knows a line.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <tandem/tandem.hpp>

using tandem::task;

tandem::event never;
tandem::mutex door;
std::atomic<int> arrived{0};
std::atomic<bool> held{false};

namespace {

task<int> deepest(int number) {
  const std::string word = "abyss";
  ++arrived;
  co_await never.wait();  // line: event
  co_return number + static_cast<int>(word.size());
}
task<int> middle(int number) {
  const int doubled = 2 * number;
  const int answer = co_await deepest(doubled);  // line: deepest
  co_return answer + doubled;
}
task<void> outermost() {
  const int answer = co_await middle(21);  // line: middle
  arrived = answer;
}

task<void> sleeper() {
  ++arrived;
  co_await tandem::sleep_for(std::chrono::hours(1));  // line: sleep
}
task<void> gate() {
  co_await door.lock();
  ++arrived;
  co_await tandem::when_all(  // line: when_all
      middle(1), middle(2));  // line: when_all ends
  door.unlock();
}
task<void> queues_up() {
  ++arrived;
  const tandem::mutex_guard guard = co_await door.scoped_lock();  // line: mutex
}
task<void> chooses() {
  ++arrived;
  (void)co_await tandem::select(never.wait(), door.lock());  // line: select
}
task<void> family() {
  co_await tandem::with_scope([](tandem::task_scope& scope) -> task<void> {  // line: scope begins
    scope.spawn(gate());                                                     // line: spawn gate
    scope.spawn(queues_up());                                                // line: spawn first
    scope.spawn(sleeper());                                                  // line: spawn sleeper
    co_return;
  });  // line: scope
}
task<void> joins() {
  tandem::join_handle<void> handle = tandem::spawn(outermost());  // line: spawn outermost
  ++arrived;
  co_await handle;  // line: join
}
task<void> limited() {
  ++arrived;
  co_await tandem::with_timeout(std::chrono::hours(1), middle(3));  // line: limit
}

task<void> late() { co_return; }

TANDEM_NOINLINE int keep_worker(int number) {
  std::mutex lock;
  std::unique_lock guard(lock);
  std::condition_variable never_told;
  held = true;
  never_told.wait(guard, [] { return false; });
  return number;
}
task<int> holds(int number) {
  co_await tandem::yield();  // so it is not called on the stack of hangs() any more
  tandem::join_handle<void> handle = tandem::spawn(late());  // line: spawn late
  const int answer = keep_worker(number);                    // line: keeps
  co_await handle;
  co_return answer;
}
task<void> hangs() {
  const int answer = co_await holds(7);  // line: holds
  arrived = answer;
}

}  // namespace

// The test stops here.
extern "C" TANDEM_NOINLINE void all_is_set() { arrived = -1; }

int main() {
  tandem::runtime_options options;
  options.name = "debugged";
  options.min_threads = options.max_threads = 1;
  options.adaptive = false;
  tandem::runtime runtime(options);
  auto first = runtime.spawn(family());
  auto second = runtime.spawn(joins());
  auto third = runtime.spawn(limited());
  auto seventh = runtime.spawn(chooses());
  tandem::join_handle<void> equal[5];
  for (auto& each : equal) each = runtime.spawn(queues_up());  // line: spawn equal
  // gate and its two, first and sleeper; joins and outermost; limited and its own; chooses; five.
  while (arrived != 15) std::this_thread::yield();
  auto fourth = runtime.spawn(hangs());  // line: spawn hangs
  while (!held) std::this_thread::yield();
  auto fifth = runtime.spawn(late());             // line: spawn outside
  auto sixth = runtime.workers().submit(late());  // line: submit
  all_is_set();
  return 1;
}
