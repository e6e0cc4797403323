// planted.hpp: what the programs of this folder share: their options, the word "stuck", and an end.
// SPDX-License-Identifier: MIT
//
// Each program hangs, or is slow, by a mistake that stands in it. It says "stuck" on standard output
// when it has got there, and is ended here some seconds later, so that none is left behind.
//
// Exit status: 3, it got stuck and stayed so; 4, it never got stuck; 0, it came to its end, so that
// the mistake is none.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <tandem/runtime.hpp>

namespace planted {

namespace detail {

inline constexpr int stayed_stuck = 3;
inline constexpr int never_stuck = 4;
inline constexpr std::chrono::seconds time_to_get_stuck{60};

/// Written once, by options(), before there is any other thread.
inline std::chrono::seconds stays{10};

/// Ends the process after so long, whatever its threads do.
inline void end_after(std::chrono::seconds span, int status) {
  std::thread([span, status] {
    std::this_thread::sleep_for(span);
    std::_Exit(status);
  }).detach();
}

}  // namespace detail

/// For the runtime of each program: two workers, no more.
///
/// @param argc, argv  those of main(): the first argument is how many seconds the program stays
///                    after stuck(); default 10
inline tandem::runtime_options options(int argc, char** argv) {
  if (argc > 1) detail::stays = std::chrono::seconds(std::atoi(argv[1]));
  detail::end_after(detail::time_to_get_stuck + detail::stays, detail::never_stuck);
  tandem::runtime_options made;
  made.name = "planted";
  made.min_threads = 2;
  made.max_threads = 2;
  made.dump_on_signal = true;
  return made;
}

/// Says that the program has got where it hangs. Once; any thread.
inline void stuck() {
  std::puts("stuck");
  std::fflush(stdout);
  detail::end_after(detail::stays, detail::stayed_stuck);
}

}  // namespace planted
