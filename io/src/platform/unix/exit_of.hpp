// exit_of.hpp: how a child has ended, and taking it.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <tandem/io/process_exit.hpp>
#include <tandem/result.hpp>

#include "platform/processes.hpp"

namespace tandem::inline v0::io::platform {

inline std::error_code code_of(int error) noexcept { return {error, std::generic_category()}; }

/// As that of processes.hpp, of a child that is known by its number or by a descriptor.
inline result<std::optional<process_exit>> exit_of(idtype_t known_by, int number,
                                                   taking what) noexcept {
  const int asked = WEXITED | WNOHANG | (what == taking::left ? WNOWAIT : 0);
  siginfo_t info{};
  int answer = 0;
  do {
    answer = ::waitid(known_by, static_cast<id_t>(number), &info, asked);
  } while (answer != 0 && errno == EINTR);
  if (answer != 0) return code_of(errno);
  std::optional<process_exit> how;
  if (info.si_pid == 0) return how;  // it runs
  if (info.si_code == CLD_EXITED) {
    how = process_exit::by_code(info.si_status);
  } else {
    how = process_exit::by_signal(info.si_status, info.si_code == CLD_DUMPED);
  }
  return how;
}

/// Waits for a child that did not get as far as to be one's own: it is gone afterwards.
inline void bury(int id) noexcept {
  while (::waitpid(id, nullptr, 0) < 0 && errno == EINTR) {}
}

}  // namespace tandem::inline v0::io::platform
