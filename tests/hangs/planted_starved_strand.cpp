// planted_starved_strand.cpp: one task computes for hours on a strand, and 20 others wait for their turn on it.
// SPDX-License-Identifier: MIT
//
// The mistake: the checksum over all entries is computed on the strand that protects the ledger,
// without an await in between. Whatever is not on the strand goes on.
#include <atomic>
#include <chrono>
#include <cstdint>

#include <tandem/event.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>

#include "planted.hpp"

namespace {

using namespace std::chrono_literals;

struct bank {
  explicit bank(tandem::executor& workers) : ledger(workers, "ledger") {}
  tandem::strand ledger;  // whatever touches the balance or the checksum is on it
  long balance = 0;
  std::uint64_t checksum = 1;
  tandem::event reconciling;
  std::atomic<bool> closed{false};
};

tandem::task<void> reconcile(bank& self, std::uint64_t entries) {
  self.reconciling.set();
  std::uint64_t sum = self.checksum;
  for (std::uint64_t entry = 0; entry < entries; ++entry) {
    sum = (sum ^ entry) * 0x9E3779B97F4A7C15U;
    sum ^= sum >> 29;
  }
  self.checksum = sum;
  co_return;
}

tandem::task<void> deposit(bank& self, long cents) {
  self.balance += cents;
  co_return;
}

tandem::task<void> take_pulse(bank& self) {
  while (!self.closed) co_await tandem::sleep_for(20ms);
}

tandem::task<void> do_business(bank& self) {
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(self.ledger, reconcile(self, 1ULL << 60));  // culprit(sum): it has the strand
    co_await self.reconciling.wait();
    for (long cents = 1; cents <= 20; ++cents) {
      scope.spawn(self.ledger, deposit(self, cents));  // culprit(deposit): these wait for it
    }
    planted::stuck();
  });
  self.closed = true;
}

tandem::task<int> open(tandem::executor& workers) {
  bank self(workers);
  co_await tandem::when_all(do_business(self), take_pulse(self));
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tandem::runtime owner(planted::options(argc, argv));
  return owner.spawn(open(owner.workers())).wait();
}
