// processes.cpp: children that share their parent's memory until they are another program, and pidfds.
// SPDX-License-Identifier: MIT
#include "platform/processes.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <new>

#include "platform/descriptor.hpp"
#include "platform/unix/child_run.hpp"
#include "platform/unix/exit_of.hpp"

#if defined(__GLIBC__)
// By the name under which sanitizers do not wrap it: theirs takes it for a fork().
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument,  // NOLINT
                       ...) noexcept;
#define TANDEM_CLONE ::__clone
#else
#define TANDEM_CLONE ::clone
#endif

namespace tandem::inline v0::io::platform {

namespace {

/// Of the kernel; glibc 2.36 has it in <sys/pidfd.h> and <sys/wait.h>.
constexpr auto by_pidfd = static_cast<idtype_t>(3);

/// What parent and child have in common. The parent's thread waits meanwhile.
class shared_start {
 public:
  const child_plan* plan;
  child_file* files;
  child_report report;
};

TANDEM_IN_CHILD int child_main(void* of) {
  auto& start = *static_cast<shared_start*>(of);
  start.report = become_program(*start.plan, start.files, start.plan->files.size());
  // Not _exit(): before a call that does not return AddressSanitizer looks at its stack.
  while (true) (void)::syscall(SYS_exit_group, 127);
}

/// Blocks whatever there is, also what the C library keeps for itself: no handler may run in a
/// child that has its parent's memory.
class all_blocked {
 public:
  all_blocked() noexcept {
    const std::uint64_t all = ~std::uint64_t{0};
    (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  all_blocked(const all_blocked&) = delete;
  all_blocked& operator=(const all_blocked&) = delete;
  ~all_blocked() {
    const int error = errno;
    (void)::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
    errno = error;
  }

 private:
  std::uint64_t before_ = 0;
};

}  // namespace

TANDEM_NOINLINE start_failure start_child(const child_plan& plan, started_child& made) noexcept {
  start_failure failed;
  // Few files mostly; else there is memory for them, or not.
  std::array<child_file, 16> few;
  std::unique_ptr<child_file[]> many;
  if (plan.files.size() > few.size()) many.reset(new (std::nothrow) child_file[plan.files.size()]);
  shared_start start{&plan, many != nullptr ? many.get() : few.data(), {}};
  if (plan.files.size() > few.size() && many == nullptr) {
    failed.error = code_of(ENOMEM);
    return failed;
  }
  std::ranges::copy(plan.files, start.files);
  // The child's calls go no deeper than this; it lies on our own stack, whose owner waits.
  alignas(64) char stack[16 * 1024];
  int end = no_descriptor;
  int id = -1;
  int error = 0;
  {
    const all_blocked none_may_run;
    id = TANDEM_CLONE(&child_main, stack + sizeof stack,
                      CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, &end);
    error = errno;
  }
  if (id < 0) {
    failed.error = code_of(error);
  } else if (start.report.error != 0) {
    bury(id);
    failed.step = start.report.step;
    failed.error = code_of(start.report.error);
  } else if (end < 0) {  // a kernel that does not know pidfds has ignored the wish for one
    (void)::kill(id, SIGKILL);
    bury(id);
    failed.error = code_of(ENOSYS);
  } else {
    made.id = id;
    made.end = end;
    return failed;
  }
  if (end >= 0) close(end);
  return failed;
}

result<std::optional<process_exit>> exit_of(const started_child& child, taking what) noexcept {
  return exit_of(by_pidfd, child.end, what);
}

std::error_code send_signal(const started_child& child, int number, bool to_group) noexcept {
  // The group has its leader's number, which is nobody else's until that has been taken.
  const long answer = to_group ? ::kill(-child.id, number)
                               : ::syscall(SYS_pidfd_send_signal, child.end, number, nullptr, 0);
  return answer == 0 ? std::error_code() : code_of(errno);
}

}  // namespace tandem::inline v0::io::platform
