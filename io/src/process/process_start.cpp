// process_start.cpp: starting a program, where that may block.
// SPDX-License-Identifier: MIT
#include <array>
#include <functional>
#include <string>
#include <system_error>
#include <tandem/blocking.hpp>
#include <tandem/blocking_region.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/io/process.hpp>
#include <tandem/stop.hpp>

#include "platform/descriptor.hpp"
#include "platform/pipes.hpp"
#include "process/child_process.hpp"
#include "process/pipe_end.hpp"
#include "process/reaper.hpp"
#include "process/start_plan.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::array stream_steps{process_step::standard_input, process_step::standard_output,
                                  process_step::standard_error};
constexpr std::array stream_names{"standard input", "standard output", "standard error"};

[[noreturn]] void fail_stream(int number, std::error_code error, const std::string& tried) {
  const auto at = static_cast<std::size_t>(number);
  throw process_start_error(error, stream_steps.at(at),
                            std::string("process::start: ") + stream_names.at(at) + ": " + tried);
}

/// Whether the program's name has its arguments, too.
const char* advice_on_blank(const start_plan& plan) noexcept {
  const bool has_blank = plan.program().find(' ') != std::string::npos;
  return has_blank ? " (one word a string: command_line(\"ls\", \"-l\"))" : "";
}

/// What was tried, and what to do about it.
std::string text_of(const start_plan& plan, platform::start_failure failed) {
  const std::string program = "'" + plan.program() + "'";
  if (failed.error == std::errc::not_supported) {
    return std::string(failed.step == process_step::session       ? "a session of its own"
                       : failed.step == process_step::descriptors ? "further descriptors"
                                                                  : "a process") +
           ": this system has none";
  }
  switch (failed.step) {
    case process_step::directory:
      return "changing to its directory '" + plan.directory() + "' (chdir)";
    case process_step::group:
      return "joining its process group (setpgid): has the leader been waited for?";
    case process_step::session: return "beginning a session (setsid)";
    case process_step::descriptors:
      return "giving its descriptors their numbers (dup2): are all of them open, and the numbers "
             "below the limit (ulimit -n)?";
    case process_step::exec: break;
    default:
      if (failed.error == std::errc::function_not_supported) {
        return "this kernel has no pidfds: Linux 5.4 or later is needed";
      }
      if (failed.error == std::errc::resource_unavailable_try_again) {
        return "making the process: too many of them run (ulimit -u, pids.max)";
      }
      return "making the process";
  }
  if (failed.error == std::errc::no_such_file_or_directory) {
    const bool is_searched = !platform::has_folder(plan.program());
    return "exec of " + program +
           (is_searched ? ": it is in no folder of PATH"
                        : ": there is no such program, or not the interpreter that its first line "
                          "names") +
           advice_on_blank(plan);
  }
  if (failed.error == std::errc::permission_denied) {
    if (plan.names_directory()) return "exec of " + program + ": it is a directory";
    return "exec of " + program + ": it may not be executed (chmod +x?)";
  }
  if (failed.error == std::errc::executable_format_error) {
    return "exec of " + program +
           ": it is no program of this machine, and a script needs a first "
           "line such as #!/bin/sh";
  }
  return "exec of " + program;
}

}  // namespace

process_start_error::process_start_error(std::error_code error, process_step step,
                                         const std::string& what)
    : std::system_error(error, what), step_(step) {}
process_start_error::~process_start_error() = default;

/// Makes one process.
class process::starter {
 public:
  starter(completion_pool& pool, std::vector<std::string> argv, process_options options)
      : pool_(&pool), argv_(std::move(argv)), options_(std::move(options)) {}

  process operator()() {
    start_plan plan(argv_, options_);
    for (int number = 0; number < 3; ++number) give_stream(plan, number);
    made_.child_.reset(new detail::child_process(options_.on_scope_end, options_.group.leads()));
    if (const platform::start_failure failed = made_.child_->start(plan.plan())) {
      throw process_start_error(failed.error, failed.step,
                                "process::start: " + text_of(plan, failed));
    }
    return std::move(made_);
  }

 private:
  const process_stdio& wish(int number) const noexcept {
    return number == 0   ? options_.standard_input
           : number == 1 ? options_.standard_output
                         : options_.standard_error;
  }

  void give_stream(start_plan& plan, int number) {
    const process_stdio& wanted = wish(number);
    switch (wanted.what()) {
      case process_stdio::kind::inherited:
        // One that was closed here has a number that may be a descriptor of the runtime's by now.
        return plan.give_ours(number, platform::standard_stream(number));
      case process_stdio::kind::descriptor:
        if (!platform::is_open(wanted.given())) {
          fail_stream(number, std::make_error_code(std::errc::bad_file_descriptor),
                      "descriptor " + std::to_string(wanted.given()));
        }
        plan.give_ours(number, wanted.given());
        return;
      case process_stdio::kind::output:
        if (number != 2) {
          fail_stream(number, std::make_error_code(std::errc::invalid_argument),
                      "same_as_output() is for standard error only");
        }
        plan.give_ours(number, plan.given(1));
        return;
      case process_stdio::kind::pipe: return give_pipe(plan, number);
      default: break;
    }
    const result<native_descriptor> opened = platform::open_for_child(wanted);
    if (!opened) {
      const bool is_null = wanted.what() == process_stdio::kind::null;
      fail_stream(number, opened.error(),
                  "open of '" + (is_null ? std::string("/dev/null") : wanted.path()) + "'");
    }
    plan.give(number, owned_descriptor(opened.value()));
  }

  void give_pipe(start_plan& plan, int number) {
    const bool child_reads = number == 0;
    const auto ends = platform::make_pipe({child_reads, !child_reads});
    if (!ends) fail_stream(number, ends.error(), "its pipe");
    const std::size_t ours = child_reads ? 1 : 0;
    owned_descriptor theirs(ends.value()[1 - ours]);
    owned_descriptor made(ends.value()[ours]);
    std::error_code error;
    detail::socket end = serve_pipe(*pool_, made.native_handle(), error);
    if (error) fail_stream(number, error, "its pipe");
    (void)made.release();
    plan.give(number, std::move(theirs));
    if (child_reads) {
      made_.input_ = pipe_writer(std::move(end));
    } else {
      (number == 1 ? made_.output_ : made_.error_) = pipe_reader(std::move(end));
    }
  }

  completion_pool* pool_;
  std::vector<std::string> argv_;
  process_options options_;
  process made_;
};

task<process> process::start(std::vector<std::string> argv, process_options options) {
  completion_pool& pool = current_completion_pool("process::start");
  throw_if_stopped();
  sweep_abandoned();
  starter start(pool, std::move(argv), std::move(options));
  if (tandem::detail::this_thread().current_worker != nullptr) {
    const blocking_region here;
    co_return start();
  }
  co_return co_await blocking(std::ref(start));
}

}  // namespace tandem::inline v0::io
