// task_count_test.cpp: the recursions of suite fork_join start as many tasks as their inputs have nodes.
// SPDX-License-Identifier: MIT
//
// The same task templates as in the benchmark, with a counter that each body touches first: so the
// rows of impl tandem have no cut-off, and their figures are divided by the right number.
#include <gtest/gtest.h>
#include <atomic>

#include "fib_tasks.hpp"
#include "matmul_tasks.hpp"
#include "nqueens_tasks.hpp"
#include "skynet_tasks.hpp"
#include "uts_tasks.hpp"

namespace {

using namespace tandem::bench;

/// Counts per thread; a thread's own count joins the total when the thread ends.
class counter {
 public:
  static void started() noexcept;
  static long total() { return total_.load(); }
  static void reset() { total_.store(0); }

 private:
  struct per_thread {
    long count = 0;
    ~per_thread() { total_.fetch_add(count); }
  };
  static thread_local per_thread mine_;
  static std::atomic<long> total_;
};

thread_local counter::per_thread counter::mine_;
std::atomic<long> counter::total_{0};

// Not inlined: a coroutine may go on in another thread than the one whose address it has seen.
[[gnu::noinline]] void counter::started() noexcept { ++mine_.count; }

/// The number of bodies that started until the result of `root` was there.
template <class T>
long tasks_of(tandem::task<T> root) {
  counter::reset();
  {
    workers on(2);
    on(std::move(root));
  }
  return counter::total();
}

const uts::tree& tree_named(std::string_view name) {
  for (const uts::tree& t : uts::trees) {
    if (uts::case_of(t) == name) return t;
  }
  throw std::invalid_argument("no such tree");
}

long uts_tasks(std::string_view name) {
  const uts::tree& t = tree_named(name);
  return tasks_of(uts::forked<counter>(t, uts::root_of(t)));
}

long inner_uts_tasks(std::string_view name) {
  const uts::tree& t = tree_named(name);
  const uts::node root = uts::root_of(t);
  return tasks_of(uts::forked_inner<counter>(t, root, uts::count_children(t, root)));
}

TEST(fork_join_bench, fib_36_starts_a_task_for_every_call) {
  EXPECT_EQ(tasks_of(fib::forked<counter>(fib::n)), 48'315'633);
}

#ifdef TANDEM_BENCH_PARALLEL_INVOKE
TEST(fork_join_bench, fib_36_by_parallel_invoke_makes_every_call) {
  EXPECT_EQ(tasks_of(fib::invoked_on_worker<counter>(fib::n)), 48'315'633);
}
#endif

TEST(fork_join_bench, skynet_starts_a_task_for_every_leaf_and_every_inner_node) {
  EXPECT_EQ(tasks_of(skynet::forked<counter>(0, skynet::leaves)), 1'111'111);
}

TEST(fork_join_bench, nqueens_13_starts_a_task_for_every_safe_placement) {
  EXPECT_EQ(tasks_of(nqueens::forked<counter>(0, nqueens::board{})), 4'674'890);
}

TEST(fork_join_bench, uts_starts_a_task_for_every_node) {
  EXPECT_EQ(uts_tasks("uts_t1"), 4'130'071);
  EXPECT_EQ(uts_tasks("uts_t3"), 4'112'897);
}

TEST(fork_join_bench, uts_with_leaves_inline_starts_a_task_for_every_inner_node) {
  EXPECT_EQ(inner_uts_tasks("uts_t1"), 4'130'071 - 3'305'118);
  EXPECT_EQ(inner_uts_tasks("uts_t3"), 4'112'897 - 3'599'034);
}

TEST(fork_join_bench, every_uts_tree_has_the_published_size_and_depth) {
  for (const uts::tree& t : uts::trees) {
    EXPECT_NO_THROW(uts::check(t, uts::serial(t, uts::root_of(t)))) << t.name;
  }
}

TEST(fork_join_bench, matmul_1024_starts_a_task_for_every_product_of_quadrants) {
  std::vector<double> a(matmul::n * matmul::n), b(a), c(a);
  EXPECT_EQ(tasks_of(matmul::forked<counter>({a.data(), b.data(), c.data(), matmul::n})), 37'449);
}

}  // namespace
