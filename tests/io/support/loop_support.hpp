// loop_support.hpp: foreign loops for tests, from every home; passes of one, instead of waiting some time.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <tandem/event.hpp>
#include <tandem/io/foreign_loop.hpp>

#include "io/support/foreign_pair.hpp"
#include "io/support/io_support.hpp"

namespace tandem::test {

using io::foreign_loop;
using io::native_descriptor;
using io::ready_events;
using io::watch_interest;
using io::with_foreign_loop;

/// Runs `body(loop)` in a loop, asked for from every home that a task can have.
template <class Body>
void in_a_loop(Body body) {
  on_every_home([&body]() -> task<void> { co_await with_foreign_loop(body); });
}

/// Lets the loop ask the system so many times what is ready: whatever is, has been told after it.
class loop_passes {
 public:
  explicit loop_passes(foreign_loop& loop) : loop_(loop) {}

  task<void> pass(int times = 3) {
    event done;
    int left = times;
    loop_.watch(always_.get(), watch_interest::read, [&](native_descriptor number, ready_events) {
      if (--left > 0) return;
      loop_.forget(number);
      done.set();
    });
    co_await done.wait();
  }

 private:
  foreign_loop& loop_;
  ready_descriptor always_;  // from the start, so that it takes no number that a test closes
};

}  // namespace tandem::test
