// suite.hpp: the cases of suite asio: operations and posts of Asio's, by tandem's bridge and by Asio itself.
// SPDX-License-Identifier: MIT
//
// Both are in one program, since both use the same Asio, compiled with the same flags. Beast knows Boost's Asio only, so its
// echoes are over that.
#pragma once

#include "../pool/problems.hpp"

namespace tandem::bench::interop {

using pool::case_list;

void add_awaits(case_list& cases);
void add_posts(case_list& cases);
/// With Boost.Beast only.
void add_echoes(case_list& cases);

inline case_list asio_cases() {
  case_list cases;
  add_awaits(cases);
  add_posts(cases);
#if TANDEM_BENCH_BEAST
  add_echoes(cases);
#endif
  return cases;
}

}  // namespace tandem::bench::interop
