// planted_lock_cycle.cpp: three transfers between accounts, each of which has the lock that another one wants.
// SPDX-License-Identifier: MIT
//
// The mistake: both locks are taken, first that of the account which pays, in no order that all keep
// to. A fourth task waits for one of the locks without being part of the cycle, and a fifth goes on
// until all of them have ended.
#include <atomic>
#include <chrono>

#include <tandem/latch.hpp>
#include <tandem/mutex.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>

#include "planted.hpp"

namespace {

using namespace std::chrono_literals;

struct account {
  explicit account(long cents) : balance(cents) {}
  tandem::mutex lock;
  long balance;
};

struct bank {
  account salaries{900'00};
  account rents{700'00};
  account taxes{100'00};
  std::atomic<bool> closed{false};
  tandem::latch debits{3};  // so that it happens every time: all have their first lock by then

  // The last of {three transfers, the audit} to get there.
  void arrived() {
    if (++there_ == 4) planted::stuck();
  }

 private:
  std::atomic<int> there_{0};
};

tandem::task<void> transfer(bank& self, account& from, account& to, long cents) {
  const auto debit = co_await from.lock.scoped_lock();
  co_await self.debits.arrive_and_wait();
  self.arrived();
  const auto credit = co_await to.lock.scoped_lock();  // culprit(second): has a first one
  from.balance -= cents;
  to.balance += cents;
}

tandem::task<void> audit(bank& self) {
  co_await self.debits.wait();
  self.arrived();
  const auto guard = co_await self.rents.lock.scoped_lock();
  if (self.rents.balance < 0) self.rents.balance = 0;
}

tandem::task<void> take_pulse(bank& self) {
  while (!self.closed) co_await tandem::sleep_for(20ms);
}

tandem::task<void> do_business(bank& self) {
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(transfer(self, self.salaries, self.rents, 650'00));  // culprit(rent): has salaries
    scope.spawn(transfer(self, self.rents, self.taxes, 120'00));     // culprit(tax): has rents
    scope.spawn(transfer(self, self.taxes, self.salaries, 80'00));   // culprit(refund): has taxes
    scope.spawn(audit(self));
    co_return;
  });
  self.closed = true;
}

tandem::task<int> open() {
  bank self;
  co_await tandem::when_all(do_business(self), take_pulse(self));
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(open(), planted::options(argc, argv)); }
