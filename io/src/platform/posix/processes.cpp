// processes.cpp: children by fork, and a thread for each that waits for its end.
// SPDX-License-Identifier: MIT
//
// POSIX has no descriptor that tells of a child's end. So a thread waits for it, without taking it,
// and closes the writing end of a pipe then: whoever has the reading end hears of that.
#include "platform/processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <tandem/detail/pool_thread.hpp>
#include <vector>

#include "platform/descriptor.hpp"
#include "platform/pipes.hpp"
#include "platform/unix/child_run.hpp"
#include "platform/unix/exit_of.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// Blocked in the thread that forks, so that no handler runs in the child.
class all_blocked {
 public:
  all_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  all_blocked(const all_blocked&) = delete;
  all_blocked& operator=(const all_blocked&) = delete;
  ~all_blocked() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

[[noreturn]] void run_child(const child_plan& plan, child_file* files, std::size_t count,
                            int report_to) noexcept {
  // Out of the way of the numbers that the program gets; it is gone when that begins.
  const int aside = duplicate_aside(report_to, files, count);
  child_report failed =
      aside < 0 ? failed_at(process_step::descriptors) : become_program(plan, files, count);
  (void)!::write(aside < 0 ? report_to : aside, &failed, sizeof failed);
  ::_exit(127);
}

/// @returns  without an error if the child is another program, and the pipe was closed by that
child_report read_report(int from) noexcept {
  child_report told;
  ssize_t count = 0;
  do count = ::read(from, &told, sizeof told);
  while (count < 0 && errno == EINTR);
  if (count != sizeof told) told = child_report();
  return told;
}

void wait_for_end(int id, int tell) noexcept {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
  close(tell);
}

int fork_child(const child_plan& plan, std::vector<child_file>& files,
               const std::array<native_descriptor, 2>& report) noexcept {
  const all_blocked none_may_run;
  const int id = ::fork();
  if (id == 0) run_child(plan, files.data(), files.size(), report[1]);
  return id;
}

}  // namespace

start_failure start_child(const child_plan& plan, started_child& made) noexcept {
  start_failure failed;
  const auto report = make_pipe({true, true});
  if (!report) {
    failed.error = report.error();
    return failed;
  }
  const auto end = make_pipe({false, true});
  int id = -1;
  child_report told;
  try {
    std::vector<child_file> files(plan.files.begin(), plan.files.end());
    if (end) id = fork_child(plan, files, report.value());
    failed.error = !end ? end.error() : id < 0 ? code_of(errno) : std::error_code();
  } catch (...) {
    failed.error = code_of(ENOMEM);
  }
  close(report.value()[1]);
  if (id > 0) told = read_report(report.value()[0]);
  close(report.value()[0]);
  if (told.error != 0) {
    bury(id);
    failed.step = told.step;
    failed.error = code_of(told.error);
  }
  if (!failed) {
    try {
      tandem::detail::start_pool_thread("tandem-child", [id, tell = end.value()[1]] {
        wait_for_end(id, tell);
      }).detach();
      made.id = id;
      made.end = end.value()[0];
      return failed;
    } catch (...) {
      (void)::kill(id, SIGKILL);
      bury(id);
      failed.error = code_of(EAGAIN);
    }
  }
  if (end) {
    for (const int each : end.value()) close(each);
  }
  return failed;
}

result<std::optional<process_exit>> exit_of(const started_child& child, taking what) noexcept {
  return exit_of(P_PID, child.id, what);
}

std::error_code send_signal(const started_child& child, int number, bool to_group) noexcept {
  return ::kill(to_group ? -child.id : child.id, number) == 0 ? std::error_code() : code_of(errno);
}

}  // namespace tandem::inline v0::io::platform
