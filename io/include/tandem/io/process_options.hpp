// process_options.hpp: how a process is started: its streams, environment, directory, group, end.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

/// A program and its arguments, as process::start() takes them. (A braced list would do, but g++ 12
/// compiles none within a co_await.)
///
///     process child = co_await process::start(tandem::io::command_line("ls", "-l", folder));
template <class... Words>
  requires(std::constructible_from<std::string, Words> && ...)
std::vector<std::string> command_line(Words&&... words) {
  std::vector<std::string> made;
  made.reserve(sizeof...(words));
  (made.emplace_back(std::forward<Words>(words)), ...);
  return made;
}

/// What one of the three standard streams of a process is.
class TANDEM_IO_API process_stdio {
 public:
  enum class kind : std::uint8_t { inherited, null, pipe, descriptor, read, write, append, output };

  /// This process's own; closed where that is closed, or close-on-exec, as a descriptor is that was
  /// opened after it had been closed.
  static process_stdio inherited() noexcept { return process_stdio(kind::inherited); }
  /// Nothing can be read, and what is written is dropped (/dev/null, NUL).
  static process_stdio null() noexcept { return process_stdio(kind::null); }
  /// A new pipe, whose other end is process::standard_input() or the like.
  static process_stdio pipe() noexcept { return process_stdio(kind::pipe); }
  /// A file, socket or pipe that is open here. It stays the caller's, and has to be open until
  /// start() has returned. What does not block here will not block there either: our own ends of
  /// pipes are such, so give those by release().
  static process_stdio descriptor(native_descriptor open) noexcept {
    process_stdio made(kind::descriptor);
    made.descriptor_ = open;
    return made;
  }
  /// A file, which is opened by start(). A path is looked up from this process's directory, not
  /// from process_options::directory. (Opening a FIFO waits for its other end, and no stop ends
  /// that.) A terminal does not become this process's own (O_NOCTTY).
  static process_stdio read_from(std::string path) {
    return process_stdio(kind::read, std::move(path));
  }
  /// As above; it is made if there is none, with permissions 0666 but for the umask, and emptied.
  static process_stdio write_to(std::string path) {
    return process_stdio(kind::write, std::move(path));
  }
  /// As above, and written at its end.
  static process_stdio append_to(std::string path) {
    return process_stdio(kind::append, std::move(path));
  }
  /// Of standard_error only: whatever its standard output is (2>&1).
  static process_stdio same_as_output() noexcept { return process_stdio(kind::output); }

  kind what() const noexcept { return kind_; }
  native_descriptor given() const noexcept { return descriptor_; }
  const std::string& path() const noexcept { return path_; }

 private:
  explicit process_stdio(kind what) noexcept : kind_(what) {}
  process_stdio(kind what, std::string path) : kind_(what), path_(std::move(path)) {}

  kind kind_;
  native_descriptor descriptor_ = no_descriptor;
  std::string path_;
};

/// To which group and session of processes one belongs. A leader's whole group gets its signals by
/// process::signal_group(), and by process::end(); what is left of it goes with the leader's scope
/// (with_process(), ~process()), but for leave_running().
class TANDEM_IO_API process_group {
 public:
  enum class kind : std::uint8_t { inherited, own, session, joined };

  /// This process's: a Ctrl-C at the terminal reaches both.
  static process_group inherited() noexcept { return process_group(kind::inherited); }
  /// A new group, which it leads (setpgid; on Windows a job, and a group of the console).
  static process_group own() noexcept { return process_group(kind::own); }
  /// A new session without a terminal, and a group, both of which it leads (setsid). Not on Windows
  /// (errc::not_supported).
  static process_group session() noexcept { return process_group(kind::session); }
  /// That of a process which leads one and has not been waited for: the next one of a pipeline.
  ///
  /// @param leader  its process::id(); start() refuses 0 and less
  static process_group joined(int leader) noexcept {
    process_group made(kind::joined);
    made.leader_ = leader;
    return made;
  }

  kind what() const noexcept { return kind_; }
  int leader() const noexcept { return leader_; }
  bool leads() const noexcept { return kind_ == kind::own || kind_ == kind::session; }

 private:
  explicit process_group(kind what) noexcept : kind_(what) {}

  kind kind_;
  int leader_ = 0;
};

namespace detail {

/// What can be added to any time that comes, and no less than nothing.
constexpr std::chrono::milliseconds within_a_century(std::chrono::milliseconds span) noexcept {
  constexpr std::chrono::milliseconds most = std::chrono::hours(24 * 365 * 100);
  return std::clamp(span, std::chrono::milliseconds(0), most);
}

}  // namespace detail

/// What becomes of a process that still runs when its scope ends, or its `process` is destroyed.
class TANDEM_IO_API process_end {
 public:
  enum class kind : std::uint8_t { terminate, kill, leave };

  /// @param patience  what is more than a hundred years counts as that, what is negative as none
  process_end(kind how, std::chrono::milliseconds patience) noexcept
      : kind_(how), patience_(detail::within_a_century(patience)) {}

  kind how() const noexcept { return kind_; }
  /// Between SIGTERM and SIGKILL.
  std::chrono::milliseconds patience() const noexcept { return patience_; }

 private:
  kind kind_;
  std::chrono::milliseconds patience_;
};

/// SIGTERM, and SIGKILL if it has not ended by then. (On Windows the first ends it already.)
inline process_end terminate_then_kill(std::chrono::milliseconds patience) noexcept {
  return {process_end::kind::terminate, patience};
}
/// SIGKILL at once.
inline process_end kill_at_once() noexcept { return {process_end::kind::kill, {}}; }
/// It runs on, even when this process ends. While this one lives it is reaped when it has ended.
inline process_end leave_running() noexcept { return {process_end::kind::leave, {}}; }

/// A descriptor that a process gets beside the three standard streams.
class passed_descriptor {
 public:
  /// @param there  its number in the process, from 3 on
  passed_descriptor(native_descriptor open_here, native_descriptor there) noexcept
      : here(open_here), number(there) {}

  native_descriptor here;  ///< stays the caller's, and open until start() has returned
  native_descriptor number;
};

/// How process::start() starts one.
///
///     tandem::io::process_options options;
///     options.standard_output = tandem::io::process_stdio::pipe();
///     options.environment["LANG"] = "C";
///     options.directory = "/tmp";
///
/// Whatever is said here the process begins with no signal blocked, with SIGPIPE, and all that has
/// a handler here, at its default (what is ignored here, but for SIGPIPE, stays so, as `nohup`
/// wants it), and with no descriptor but the standard streams and `descriptors`.
class TANDEM_IO_API process_options {
 public:
  process_options() = default;

  process_stdio standard_input = process_stdio::inherited();
  process_stdio standard_output = process_stdio::inherited();
  process_stdio standard_error = process_stdio::inherited();
  /// No number twice. None on Windows (errc::not_supported).
  std::vector<passed_descriptor> descriptors;
  /// Changes of the environment: a value, or std::nullopt to leave a variable out. On Windows the
  /// case of a name makes no difference.
  std::map<std::string, std::optional<std::string>> environment;
  /// Whether what `environment` does not name comes from this process. (On Windows few programs run
  /// without SystemRoot.)
  bool inherits_environment = true;
  /// Where it runs; empty: where this process does.
  std::string directory;
  process_group group = process_group::inherited();
  /// See process::end(), with_process(), and ~process().
  process_end on_scope_end = terminate_then_kill(std::chrono::seconds(2));
  /// Of process::output(): how much each of the two streams may bring.
  std::size_t most_output_bytes = std::size_t{64} << 20;
  /// Of process::output(): how long the process may run. Then it is ended as by process::end(), and
  /// what it has written is returned, with process_output::timed_out.
  std::optional<std::chrono::milliseconds> output_time_limit;
  /// Of process::output(): how long it waits, once the process has ended, for the end of outputs
  /// that others have open: what it has started in the background.
  std::chrono::milliseconds output_grace{250};
};

}  // namespace tandem::inline v0::io
