// tbb_fork_join.cpp: suite fork_join by oneTBB: parallel_invoke for fixed fan-outs, task_group else.
// SPDX-License-Identifier: MIT
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>
#include <array>
#include <vector>

#include "peer_rows.hpp"

namespace {

using namespace tandem::bench;
using tandem::bench::matmul::product;

class arena {
 public:
  explicit arena(int threads)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena_(threads) {}

  template <class Work>
  void operator()(const Work& work) {
    arena_.execute(work);
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

struct tbb_impl {
  static long fib(int n) {
    if (n < 2) return n;
    long a = 0, b = 0;
    tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
    return a + b;
  }

  static long skynet(long first, long count) {
    if (count == 1) return first;
    const long part = count / skynet::fan_out;
    std::array<long, skynet::fan_out> sums;
    tbb::task_group group;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      group.run(
          [=, &sums] { sums[i] = tbb_impl::skynet(first + static_cast<long>(i) * part, part); });
    }
    group.wait();
    long sum = 0;
    for (const long one : sums) sum += one;
    return sum;
  }

  static int queens(int row, nqueens::board board) {
    if (row == nqueens::n) return 1;
    std::array<int, nqueens::n> ways{};
    tbb::task_group group;
    const nqueens::squares safe = nqueens::safe_squares(row, board);
    for (std::size_t i = 0; i < safe.count; ++i) {
      nqueens::place(board, row, safe.columns[i]);
      group.run([=, &result = ways[i]] { result = queens(row + 1, board); });
    }
    group.wait();
    int sum = 0;
    for (const int one : ways) sum += one;
    return sum;
  }

  static uts::tally walk(const uts::tree& t, const uts::node& at) {
    const int count = uts::count_children(t, at);
    if (count == 0) return uts::leaf_tally(at);
    std::vector<uts::tally> found(static_cast<std::size_t>(count));
    tbb::task_group group;
    for (int i = 0; i < count; ++i) {
      group.run([&t, child = uts::child_of(at, i), &result = found[static_cast<std::size_t>(i)]] {
        result = walk(t, child);
      });
    }
    group.wait();
    uts::tally sum = uts::inner_tally(at);
    for (const uts::tally& one : found) sum.add(one);
    return sum;
  }

  static void multiply(const product& p) {
    if (p.size == matmul::smallest) return matmul::multiply_smallest(p.a, p.b, p.c);
    for (int inner = 0; inner < 2; ++inner) {
      tbb::parallel_invoke(
          [&] { multiply(p.part(0, 0, inner)); }, [&] { multiply(p.part(0, 1, inner)); },
          [&] { multiply(p.part(1, 0, inner)); }, [&] { multiply(p.part(1, 1, inner)); });
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_main(argc, argv, peer_rows<arena, tbb_impl>("tbb"),
                  std::string("oneTBB ") + TBB_runtime_version());
}
