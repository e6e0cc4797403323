// peer_rows.hpp: the rows that a peer has in suite fork_join: the same cases as tandem's.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../fork_join/fib.hpp"
#include "../fork_join/matmul.hpp"
#include "../fork_join/nqueens.hpp"
#include "../fork_join/skynet.hpp"
#include "../fork_join/uts.hpp"

namespace tandem::bench {

using sample_function = std::function<double(int)>;

inline bench_case peer_row(const char* impl, const char* name, const char* unit, const char* input,
                           sample_function sample) {
  return {.name = name,
          .impl = impl,
          .role = "peer",
          .unit = unit,
          .better = std::string(unit) == "GFLOP/s" ? "higher" : "lower",
          .input = input,
          .threads = {},
          .sample = std::move(sample)};
}

/// All rows of a library. `On` is its set of threads: On(n)(work) runs `work` there and waits.
/// `Impl` has the recursions, with the arguments of the serial ones: fib, skynet, queens, walk and
/// multiply.
template <class On, class Impl>
std::vector<bench_case> peer_rows(const char* impl) {
  std::vector<bench_case> rows;
  rows.push_back(peer_row(impl, fib::name, "ns/task", fib::input, [](int threads) {
    On on(threads);
    return fib::sample([&](int n) {
      long result = 0;
      on([&] { result = Impl::fib(n); });
      return result;
    });
  }));
  rows.push_back(peer_row(impl, skynet::name, "ns/task", skynet::input, [](int threads) {
    On on(threads);
    return skynet::sample([&](long first, long count) {
      long result = 0;
      on([&] { result = Impl::skynet(first, count); });
      return result;
    });
  }));
  rows.push_back(peer_row(impl, nqueens::name, "ns/node", nqueens::input, [](int threads) {
    On on(threads);
    return nqueens::sample([&](int row, const nqueens::board& queens) {
      int result = 0;
      on([&] { result = Impl::queens(row, queens); });
      return result;
    });
  }));
  for (const uts::tree& t : uts::trees) {
    rows.push_back(peer_row(impl, uts::case_of(t).c_str(), "ns/node", uts::input_of(t).c_str(),
                            [&t](int threads) {
                              On on(threads);
                              return uts::sample(t, [&](const uts::tree& of, const uts::node& at) {
                                uts::tally result;
                                on([&] { result = Impl::walk(of, at); });
                                return result;
                              });
                            }));
    rows.back().extra = uts::is_extra(t);
  }
  rows.push_back(peer_row(impl, matmul::name, "GFLOP/s", matmul::input, [](int threads) {
    On on(threads);
    return matmul::sample([&](matmul::product all) { on([&] { Impl::multiply(all); }); });
  }));
  return rows;
}

}  // namespace tandem::bench
