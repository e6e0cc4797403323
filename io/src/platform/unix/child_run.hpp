// child_run.hpp: what a child does until it is another program.
// SPDX-License-Identifier: MIT
//
// It runs between fork, or something like it, and exec: so it calls the system and nothing else.
// On Linux it has the memory of its parent, one of whose threads waits: it must not leave a trace
// there but its report. So no sanitizer may look on, and their wrappers of calls are avoided.
//
// Each system's folder has a header child_calls.hpp, with the same functions, inline:
//     int duplicate_above(int descriptor, int least)      not inherited across exec
//     bool duplicate_to(int from, int to)                 inherited across exec; they differ
//     bool keep_across_exec(int descriptor)
//     void give_up_between(int first, int last)           closed at exec at the latest
//     int set_signal(int number, const struct sigaction* next, struct sigaction* before)
//     void unblock_signals()
// They answer as the system's calls do, with -1 or false, and errno.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>

#include "platform/processes.hpp"

#if defined(TANDEM_PLATFORM_POSIX)
#include "platform/posix/child_calls.hpp"
#else
#include "platform/linux/child_calls.hpp"
#endif

namespace tandem::inline v0::io::platform {

/// What a child tells before it ends.
class child_report {
 public:
  int error = 0;  ///< 0: it is another program
  process_step step = process_step::exec;
};

/// What is handled, and SIGPIPE, goes back to its default; what else is ignored stays so.
TANDEM_IN_CHILD inline void reset_signals() noexcept {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now;
    if (set_signal(number, nullptr, &now) != 0) continue;  // none that may be handled
    const bool is_ignored = now.sa_handler == SIG_IGN;     // NOLINT: as the system compares them
    if (now.sa_handler == SIG_DFL || (is_ignored && number != SIGPIPE)) continue;  // NOLINT
    now.sa_handler = SIG_DFL;
    now.sa_flags = 0;
    (void)set_signal(number, &now, nullptr);
  }
}

TANDEM_IN_CHILD inline bool is_placed_over(int number, const child_file* files,
                                           std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (files[i].number == number) return files[i].from >= 0 && files[i].from != number;
  }
  return false;
}

/// A number for it that nothing is placed over; not inherited across exec.
TANDEM_IN_CHILD inline int duplicate_aside(int descriptor, const child_file* files,
                                           std::size_t count) noexcept {
  for (int least = 0;;) {
    const int made = duplicate_above(descriptor, least);
    if (made < 0 || !is_placed_over(made, files, count)) return made;
    least = made + 1;  // that one will be placed over
  }
}

/// As dup2() of all at once: a source may have a number that is another one's target. What has no
/// source is closed at exec with all others.
TANDEM_IN_CHILD inline bool place_files(child_file* files, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const bool stays = files[i].from < 0 || files[i].from == files[i].number;
    if (stays || !is_placed_over(files[i].from, files, count)) continue;
    const int moved = duplicate_aside(files[i].from, files, count);
    if (moved < 0) return false;
    files[i].from = moved;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (files[i].from < 0) continue;
    const bool is_there = files[i].from == files[i].number
                              ? keep_across_exec(files[i].number)
                              : duplicate_to(files[i].from, files[i].number);
    if (!is_there) return false;
  }
  return true;
}

TANDEM_IN_CHILD inline void give_up_others(const child_file* files, std::size_t count) noexcept {
  int next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (files[i].from < 0) continue;
    if (files[i].number > next) give_up_between(next, files[i].number - 1);
    next = files[i].number + 1;
  }
  give_up_between(next, INT_MAX);
}

/// It says of this folder only that no program was found there: as for execvp(), and where a folder
/// has a name that is too long.
TANDEM_IN_CHILD inline bool is_of_one_folder(int error) noexcept {
  return error == EACCES || error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG ||
         error == ESTALE || error == ENODEV || error == ETIMEDOUT;
}

/// @returns  EACCES if there is a program that may not be executed, else ENOENT if there is a folder
///           without it, else the last folder's error
TANDEM_IN_CHILD inline int run_program(const child_plan& plan) noexcept {
  int told = 0;
  for (const char* const* each = plan.programs; *each != nullptr; ++each) {
    ::execve(*each, const_cast<char* const*>(plan.arguments),  // NOLINT: it changes neither
             const_cast<char* const*>(plan.environment));      // NOLINT
    const int error = errno;
    if (!is_of_one_folder(error)) return error;
    if (error == EACCES || (told != EACCES && told != ENOENT)) told = error;
  }
  return told;
}

TANDEM_IN_CHILD inline child_report failed_at(process_step step) noexcept {
  child_report made;
  made.error = errno;
  made.step = step;
  return made;
}

/// @param files  a copy of the plan's, which is changed
/// @returns      only if it has failed
TANDEM_IN_CHILD inline child_report become_program(const child_plan& plan, child_file* files,
                                                   std::size_t count) noexcept {
  reset_signals();
  if (plan.group == process_group::kind::session) {
    if (::setsid() < 0) return failed_at(process_step::session);
  } else if (plan.group != process_group::kind::inherited) {
    if (::setpgid(0, plan.leader) != 0) return failed_at(process_step::group);
  }
  if (plan.directory != nullptr && ::chdir(plan.directory) != 0) {
    return failed_at(process_step::directory);
  }
  if (!place_files(files, count)) return failed_at(process_step::descriptors);
  give_up_others(files, count);
  unblock_signals();
  child_report failed;
  failed.error = run_program(plan);
  return failed;
}

}  // namespace tandem::inline v0::io::platform
