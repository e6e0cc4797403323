// matmul.hpp: the problem matmul 1024: a product of square matrices by quadrants, doubles.
// SPDX-License-Identifier: MIT
//
// c += a * b splits into eight products of quadrants: four at once, then the other four, which add
// to the same quadrants. Products of 32 x 32 are computed by loops: that is the end of the
// recursion in every implementation, not a cut-off of one. 37,449 calls, coarse tasks that share a
// cache.
#pragma once

#include <algorithm>
#include <vector>

#include "../bench.hpp"

namespace tandem::bench::matmul {

constexpr const char* name = "matmul_1024";
constexpr const char* input = "1024 x 1024 doubles, quadrants down to 32 x 32";
constexpr int n = 1024;
constexpr int smallest = 32;
constexpr long calls = 37'449;
constexpr double operations = 2.0 * n * n * n;

/// c += a * b for `smallest` rows and columns of row-major matrices of row length n. The part of b
/// is copied first: its rows lie a power of two apart, and would push each other out of the cache.
[[gnu::noinline]] inline void multiply_smallest(const double* a, const double* b, double* c) {
  double copy[smallest * smallest];
  for (int k = 0; k < smallest; ++k) {
    for (int j = 0; j < smallest; ++j) copy[k * smallest + j] = b[k * n + j];
  }
  for (int i = 0; i < smallest; ++i) {
    double row[smallest];
    for (int j = 0; j < smallest; ++j) row[j] = c[i * n + j];
    for (int k = 0; k < smallest; ++k) {
      const double factor = a[i * n + k];
      for (int j = 0; j < smallest; ++j) row[j] += factor * copy[k * smallest + j];
    }
    for (int j = 0; j < smallest; ++j) c[i * n + j] = row[j];
  }
}

/// One of the eight products of quadrants.
struct product {
  const double* a;
  const double* b;
  double* c;
  int size;

  /// The part with quadrants (row, inner) of a, (inner, column) of b and (row, column) of c.
  product part(int row, int column, int inner) const {
    const int half = size / 2;
    return {a + (row * n + inner) * half, b + (inner * n + column) * half,
            c + (row * n + column) * half, half};
  }
};

[[gnu::noinline]] inline void serial(product p) {
  if (p.size == smallest) return multiply_smallest(p.a, p.b, p.c);
  for (int inner = 0; inner < 2; ++inner) {
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 2; ++column) serial(p.part(row, column, inner));
    }
  }
}

/// One sample: `compute(product)` adds a * b to c. Small whole numbers, so that sums are exact.
template <class Compute>
double sample(Compute&& compute) {
  constexpr auto size = static_cast<std::size_t>(n) * n;
  std::vector<double> a(size), b(size), c(size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = static_cast<double>(i % 7);
    b[i] = static_cast<double>(i % 5);
  }
  compute(product{a.data(), b.data(), c.data(), n});
  std::fill(c.begin(), c.end(), 0.0);
  const double taken =
      nanoseconds_per(operations, [&] { compute(product{a.data(), b.data(), c.data(), n}); });
  for (const std::size_t row : {0UL, 511UL, 1023UL}) {
    for (const std::size_t column : {0UL, 512UL, 1023UL}) {
      double expected = 0;
      for (std::size_t k = 0; k < n; ++k) expected += a[row * n + k] * b[k * n + column];
      expect_equal(c[row * n + column], expected, "an element of the product");
    }
  }
  return 1 / taken;
}

}  // namespace tandem::bench::matmul
