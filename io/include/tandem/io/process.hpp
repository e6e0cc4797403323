// process.hpp: starts a program, talks to it, and waits for its end.
// SPDX-License-Identifier: MIT
//
// Nobody handles SIGCHLD: the end of a process is an event of a descriptor (pidfd), as all I/O, so
// this lives beside other parts of the program that have children of their own. How:
// io/src/process/README.md.
#pragma once

#include <coroutine>
#include <memory>
#include <string>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/pipe.hpp>
#include <tandem/io/process_exit.hpp>
#include <tandem/io/process_options.hpp>
#include <tandem/io/process_start_error.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <tandem/with_resource.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

namespace detail {

class child_process;

/// Frees it if it has been reaped; else the reaper does, in its time.
class TANDEM_IO_API abandon_child {
 public:
  void operator()(child_process* child) const noexcept;
};
using child_pointer = std::unique_ptr<child_process, abandon_child>;

}  // namespace detail

/// Awaiter of process::wait().
class [[nodiscard]] TANDEM_IO_API process_wait_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = detail::lossy<detail::operation_kind::wait_process>;

  explicit process_wait_awaiter(detail::child_process* child) noexcept
      : child_(child), operation_(detail::operation_kind::wait_process, nullptr, 0) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return start(self.promise());
  }
  process_exit await_resume();
  result<process_exit> await_resume_result();
  /// As socket_awaiter.
  bool was_stopped() const noexcept { return operation_.was_stopped(); }

 private:
  bool start(tandem::detail::promise_base& waiting);
  void end_operation() noexcept;

  detail::child_process* child_;  // null: there is none
  detail::operation operation_;
};

/// What process::output() has collected.
class process_output {
 public:
  process_output() = default;

  process_exit exit;
  std::string standard_output;
  std::string standard_error;
  bool timed_out = false;  ///< process_options::output_time_limit was over, and it was ended
};

/// A process that this one has started.
///
///     tandem::io::process_options options;
///     options.standard_output = tandem::io::process_stdio::pipe();
///     auto first_line = [](tandem::io::process& child) -> tandem::task<std::string> {
///       tandem::io::buffered_reader lines(child.standard_output());
///       co_return (co_await lines.read_until("\n", 1000)).value_or("");
///     };
///     const auto argv = tandem::io::command_line("ls", "-l");
///     std::string total = co_await tandem::io::with_process(argv, options, first_line);
///
/// On Windows a command line is made of argv, which programs take apart by the rules of
/// CommandLineToArgvW(); scripts of cmd.exe (.bat, .cmd), which has others, are no programs. A group
/// is a job. What has no like there ends with errc::not_supported: see signal(),
/// process_group::session(), process_options::descriptors.
///
/// On Unix users that start processes by themselves (posix_spawn, fork) from a task have to give
/// them a signal mask: threads of a runtime block all asynchronous signals and SIGPIPE, and a child
/// inherits that. With posix_spawn: an empty set by posix_spawnattr_setsigmask, SIGPIPE in that of
/// posix_spawnattr_setsigdefault, and both of POSIX_SPAWN_SETSIGMASK and POSIX_SPAWN_SETSIGDEF in
/// posix_spawnattr_setflags.
///
/// @thread_safety  wait(), signal(), signal_group() and id() from any task and thread; all else by
///                 its owner. It is moved or destroyed while nobody waits
class TANDEM_IO_API process {
 public:
  /// None: wait() fails with errc::no_child_process.
  process() noexcept = default;
  process(process&&) noexcept = default;
  process& operator=(process&&) noexcept = default;
  /// If it has not been waited for, process_options::on_scope_end begins at once, and the reaper, a
  /// thread that is there while there are such processes, does the rest: no zombie stays. In builds
  /// with assertions a line on stderr says so, unless it is leave_running(): end() is better. If it
  /// leads a group, what is left of that when it has ended is killed, unless it is leave_running().
  ~process() = default;

  /// Starts a program.
  ///
  /// @param argv     the program and its arguments. A program without "/" is searched for in the
  ///                 folders of PATH, as the process's environment has it; one with "/" is looked
  ///                 up from process_options::directory. (On Windows also "\" and ":" say so, and
  ///                 ".exe" may be left out.)
  /// @returns        when the program has been executed, so that whatever fails before that is told
  /// @throws         process_start_error: no_such_file_or_directory, permission_denied,
  ///                 executable_format_error (a script without #!), resource_unavailable_try_again
  ///                 (too many processes), too_many_files_open, ...; function_not_supported (a
  ///                 kernel without pidfd: before Linux 5.4); not_supported (Windows: sessions,
  ///                 further descriptors);
  ///                 operation_cancelled; std::bad_alloc; std::logic_error outside any task
  /// @cancellation   before it begins; what has begun is finished, and returns the process
  /// @resumes_on     the caller's home
  /// @cost           blocks its thread until the program has been executed (0.2 ms and more): a
  ///                 worker, in a blocking_region, or else a thread of blocking()
  /// @source         man pages clone(2), pidfd_open(2), close_range(2); Windows: CreateProcessW
  static task<process> start(std::vector<std::string> argv, process_options options = {});

  /// Starts a program, gives it `input`, and collects what it writes until it has ended. All that
  /// it has written itself is returned. What it has started in the background, and has its outputs
  /// still open, may write on for process_options::output_grace, and gets SIGPIPE, or EPIPE,
  /// afterwards. It runs on: the program is in this process's group, unless options.group says
  /// own() or session(); then it is killed when the program has ended and the grace is over. Input
  /// that the program has not read is no failure: many read only a part of it.
  ///
  ///     const auto head = co_await process::output(command_line("git", "rev-parse", "HEAD"));
  ///
  /// @param options       where a stream that is to be collected is `inherited` it becomes a pipe;
  ///                      so does standard_input if there is input, else it becomes `null`
  /// @throws              as start(); stream_errc::too_long: a stream has brought more than
  ///                      process_options::most_output_bytes; errc::no_child_process
  /// @cancellation        ends the process, by on_scope_end
  /// @resumes_on          the caller's home
  static task<process_output> output(std::vector<std::string> argv, process_options options = {},
                                     std::string input = {});

  /// Its number, which is nobody else's until it has been waited for; if it leads a group, until
  /// end() or the end of this object, so that others may join. @returns 0 if there is none
  int id() const noexcept;

  /// The ends of its pipes: not open where the option is not process_stdio::pipe(). Closing
  /// standard_input() tells it that nothing more comes.
  pipe_writer& standard_input() noexcept { return input_; }
  pipe_reader& standard_output() noexcept { return output_; }
  pipe_reader& standard_error() noexcept { return error_; }

  /// Waits until it has ended. Its pipes may hold output then, and are not closed. If it leads a
  /// group the others of that run on, until end() or the end of this object.
  ///
  /// @returns        how it ended; also later, again and again
  /// @throws         std::system_error: no_child_process: the program has waited for all its
  ///                 children (waitpid(-1), or SIGCHLD is ignored), and so has taken it away;
  ///                 operation_cancelled
  /// @cancellation   ends the wait; the process runs on, and can be waited for again
  /// @thread_safety  any number of tasks may wait for it
  /// @resumes_on     the caller's home
  /// @cost           one ring entry and one system call; no allocation. On Windows one of the
  ///                 system's own threads waits, for up to 63 processes each
  process_wait_awaiter wait() noexcept { return process_wait_awaiter(child_.get()); }

  /// Sends it a signal: to this process for certain, never to another one that has got its number.
  /// (Without pidfd, in POSIX builds, as long as nobody else waits for it.)
  ///
  /// Windows has no signals: SIGTERM and 9 (SIGKILL) end it at once, without its being asked, and
  /// wait() says by which of them. SIGINT is Ctrl-Break, for one that leads a group.
  ///
  /// @throws  std::system_error: no_such_process (it has been waited for), invalid_argument,
  ///          operation_not_permitted (it has become another user's); not_supported (Windows: all
  ///          other numbers)
  void signal(int number);
  /// As above, to all of its group, also when itself has ended, until end(). pre: it leads one
  /// (process_group::own(), session())
  /// @throws  as above; no_such_process: it has ended by end(), or somebody else has waited for it;
  ///          std::logic_error if it leads none
  void signal_group(int number);

  /// Ends it by process_options::on_scope_end (with leave_running() as by terminate_then_kill(2s)),
  /// and waits for that. If it leads a group, all of that get its signals, and what is left of it
  /// when the leader has ended is killed.
  ///
  /// @returns        how it ended; at once if it had been waited for
  /// @throws         std::system_error: no_child_process, as wait()
  /// @cancellation   none: it ends within the patience of on_scope_end, but for a process that the
  ///                 kernel does not let go
  /// @resumes_on     the caller's home
  task<process_exit> end();
  /// As above, in another way.
  task<process_exit> end(process_end how);
  /// As when its scope ends: end(), or with leave_running() nothing. Never no_child_process.
  task<void> end_scope();

 private:
  class starter;

  detail::child_pointer child_;
  pipe_writer input_;
  pipe_reader output_;
  pipe_reader error_;
};

/// Starts a program, runs `body(process&)`, a callable that returns a task, and ends the process by
/// process_options::on_scope_end, however the body has ended: it is gone then, and, if it leads a
/// group (process_group::own()), so is what it has started.
///
/// @param body     with g++ 12 a lambda that captures objects with destructors needs a name
/// @returns        a task with the value of the body
/// @throws         as process::start(); what the body throws
/// @cancellation   a stop of the caller reaches the body; the end of the process is waited for
/// @resumes_on     the caller's home
template <class Body>
auto with_process(std::vector<std::string> argv, process_options options, Body&& body) {
  const auto grace = options.on_scope_end.patience() + default_grace;
  return with_resource(process::start(std::move(argv), std::move(options)),
                       std::forward<Body>(body), &process::end_scope, grace);
}

}  // namespace tandem::inline v0::io
