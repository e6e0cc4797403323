// it_hangs.cpp: the code of chapter 16: two transfers that wait for each other, and what tandem says of them.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <tandem/tandem.hpp>

using namespace std::chrono_literals;
using tandem::task;

struct account {
  tandem::mutex lock;
  long cents = 100;
};

task<void> transfer(account& from, account& to, long cents, tandem::latch& both) {
  tandem::name("transfer");
  const auto first = co_await from.lock.scoped_lock();
  both.count_down();
  co_await both.wait();                                // the other one has its first lock, too
  const auto second = co_await to.lock.scoped_lock();  // and wants this one
  from.cents -= cents;
  to.cents += cents;
}

int main() {
  account rent;
  account food;
  tandem::latch both(2);
  std::promise<std::string> told;

  tandem::runtime_options options;
  options.dump_on_signal = true;  // kill -QUIT 4711, or Ctrl+\ in its terminal
  options.look_every = 50ms;      // for circles while others run
  options.on_deadlock = [&](const tandem::deadlock_report& report) { told.set_value(report.text); };
  tandem::runtime rt(options);

  auto one = rt.spawn(transfer(rent, food, 10, both));
  auto other = rt.spawn(transfer(food, rent, 20, both));
  const std::string report = told.get_future().get();
  const bool is_named = report.find("2 tasks wait for each other") != std::string::npos;

  std::puts(rt.dump().c_str());  // every task, any time, from any thread
  one.cancel();                  // a stop ends the wait, and so the circle
  other.wait();
  return is_named && rent.cents == 120 ? 0 : 1;
}
