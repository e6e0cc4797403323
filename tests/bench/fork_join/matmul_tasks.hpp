// matmul_tasks.hpp: the product of matrices as tandem tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include "matmul.hpp"
#include "suite.hpp"

namespace tandem::bench::matmul {

template <class Counter = no_counter>
task<void> forked(product p) {
  Counter::started();
  if (p.size == smallest) {
    multiply_smallest(p.a, p.b, p.c);
    co_return;
  }
  for (int inner = 0; inner < 2; ++inner) {
    co_await fork_join(forked<Counter>(p.part(0, 0, inner)), forked<Counter>(p.part(0, 1, inner)),
                       forked<Counter>(p.part(1, 0, inner)), forked<Counter>(p.part(1, 1, inner)));
  }
}

}  // namespace tandem::bench::matmul
