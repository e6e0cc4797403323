// uts_cases.cpp: cases uts_t1 to uts_t5: trees whose shape is known only by walking them.
// SPDX-License-Identifier: MIT
#include "uts_tasks.hpp"

namespace tandem::bench {

namespace {

task<uts::tally> awaited(const uts::tree& t, uts::node at) {
  const int count = uts::count_children(t, at);
  if (count == 0) co_return uts::leaf_tally(at);
  uts::tally sum = uts::inner_tally(at);
  for (int i = 0; i < count; ++i) sum.add(co_await awaited(t, uts::child_of(at, i)));
  co_return sum;
}

bench_case row(const uts::tree& t, const char* impl, const char* role, std::vector<int> threads,
               std::function<double(int)> sample) {
  return {.name = uts::case_of(t),
          .impl = impl,
          .role = role,
          .unit = "ns/node",
          .better = "lower",
          .input = uts::input_of(t),
          .threads = std::move(threads),
          .sample = std::move(sample),
          .extra = uts::is_extra(t)};
}

template <class Make>
double sample_tasks(const uts::tree& t, int threads, Make make) {
  workers on(threads);
  return uts::sample(t, [&](const uts::tree& tree, uts::node at) { return on(make(tree, at)); });
}

void add_tree(case_list& cases, const uts::tree& t) {
  using uts::node;
  using uts::tree;
  cases.push_back(
      row(t, "serial", "floor", {1}, [&t](int) { return uts::sample(t, uts::serial); }));
  cases.push_back(row(t, "serial_coroutine", "floor", {1}, [&t](int threads) {
    return sample_tasks(t, threads, [](const tree& of, node at) { return awaited(of, at); });
  }));
  cases.push_back(row(t, "tandem", "self", {}, [&t](int threads) {
    return sample_tasks(t, threads, [](const tree& of, node at) { return uts::forked(of, at); });
  }));
  cases.push_back(row(t, "tandem_leaves_inline", "self", {}, [&t](int threads) {
    return sample_tasks(t, threads, [](const tree& of, node at) {
      return uts::forked_inner(of, at, uts::count_children(of, at));
    });
  }));
}

}  // namespace

void add_uts(case_list& cases) {
  for (const uts::tree& t : uts::trees) add_tree(cases, t);
}

}  // namespace tandem::bench
