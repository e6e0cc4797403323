// openmp_fork_join.cpp: suite fork_join by OpenMP tasks and taskwait; libgomp or libomp, as linked.
// SPDX-License-Identifier: MIT
//
// A team runs one `single` construct whose body forks; the others take tasks at the barrier behind
// it.
#include <dlfcn.h>
#include <array>
#include <vector>

#include "peer_rows.hpp"

extern "C" int omp_get_max_threads();  // omp.h is not where every compiler looks

namespace {

using namespace tandem::bench;
using tandem::bench::matmul::product;

class team {
 public:
  explicit team(int threads) : threads_(threads) {}

  template <class Work>
  void operator()(const Work& work) {
#pragma omp parallel num_threads(threads_)
#pragma omp single
    work();
  }

 private:
  int threads_;
};

struct openmp_impl {
  static long fib(int n) {
    if (n < 2) return n;
    long a = 0, b = 0;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
  }

  static long skynet(long first, long count) {
    if (count == 1) return first;
    const long part = count / skynet::fan_out;
    std::array<long, skynet::fan_out> sums;
    for (std::size_t i = 0; i < sums.size(); ++i) {
#pragma omp task shared(sums)
      sums[i] = openmp_impl::skynet(first + static_cast<long>(i) * part, part);
    }
#pragma omp taskwait
    long sum = 0;
    for (const long one : sums) sum += one;
    return sum;
  }

  static int queens(int row, nqueens::board board) {
    if (row == nqueens::n) return 1;
    std::array<int, nqueens::n> ways{};
    const nqueens::squares safe = nqueens::safe_squares(row, board);
    for (std::size_t i = 0; i < safe.count; ++i) {
      nqueens::place(board, row, safe.columns[i]);
#pragma omp task shared(ways) firstprivate(board, i)
      ways[i] = queens(row + 1, board);
    }
#pragma omp taskwait
    int sum = 0;
    for (const int one : ways) sum += one;
    return sum;
  }

  static uts::tally walk(const uts::tree& t, const uts::node& at) {
    const int count = uts::count_children(t, at);
    if (count == 0) return uts::leaf_tally(at);
    std::vector<uts::tally> found(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const uts::node child = uts::child_of(at, i);
#pragma omp task shared(found, t) firstprivate(child)
      found[static_cast<std::size_t>(i)] = walk(t, child);
    }
#pragma omp taskwait
    uts::tally sum = uts::inner_tally(at);
    for (const uts::tally& one : found) sum.add(one);
    return sum;
  }

  static void multiply(product p) {
    if (p.size == matmul::smallest) return matmul::multiply_smallest(p.a, p.b, p.c);
    for (int inner = 0; inner < 2; ++inner) {
      for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 2; ++column) {
#pragma omp task firstprivate(p)
          multiply(p.part(row, column, inner));
        }
      }
#pragma omp taskwait
    }
  }
};

/// The file of the run-time library that was linked: it tells name and version.
std::string library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&omp_get_max_threads), &info) == 0) return "OpenMP";
  std::string path = info.dli_fname;
  if (char* resolved = realpath(path.c_str(), nullptr)) {
    path = resolved;
    std::free(resolved);
  }
  std::string release;  // LLVM's file names do not tell it, their folder does
  if (const std::size_t at = path.find("/llvm-"); at != path.npos) {
    release = " of " + path.substr(at + 1, path.find('/', at + 1) - at - 1);
  }
  return "OpenMP by " + path.substr(path.rfind('/') + 1) + release;
}

}  // namespace

int main(int argc, char** argv) {
  return run_main(argc, argv, peer_rows<team, openmp_impl>("openmp"), library());
}
