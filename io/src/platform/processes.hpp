// processes.hpp: starting processes, sending them signals, and hearing of their end.
// SPDX-License-Identifier: MIT
//
// Any thread. What may fail answers with a std::error_code or a result, start_child() with the step
// as well; nothing is thrown, and no caller looks at errno. A system without such processes answers
// errc::not_supported.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/process_exit.hpp>
#include <tandem/io/process_options.hpp>
#include <tandem/io/process_start_error.hpp>
#include <tandem/result.hpp>
#include <vector>

namespace tandem::inline v0::io::platform {

/// A number of the child's (a standard stream's below 3), and which descriptor of ours it is there:
/// no_descriptor if it is to be closed.
class child_file {
 public:
  native_descriptor number;
  native_descriptor from;
};

/// All that a child does before it is another program: made before, since the child may not ask for
/// memory.
class child_plan {
 public:
  const char* const* programs = nullptr;  ///< tried in turn; ends with null
  const char* const* arguments = nullptr;
  const char* const* environment = nullptr;
  const char* directory = nullptr;    ///< null: ours
  std::span<const child_file> files;  ///< by number, none twice. All other descriptors are closed
  process_group::kind group = process_group::kind::inherited;
  int leader = 0;  ///< of the group that is joined
};

/// Whether it says where the program is, so that no folder is searched for it.
bool has_folder(std::string_view program) noexcept;
/// How the list of folders is written where programs are searched for.
class search_words {
 public:
  char between;       ///< the folders of the variable PATH
  char after;         ///< a folder, before what is in it
  std::string usual;  ///< such a list, for whoever has no PATH
};
/// @throws  std::bad_alloc
search_words words_of_search();
/// Whether two names are of one variable of the environment.
bool is_same_variable(std::string_view one, std::string_view other) noexcept;
/// Each as "NAME=value".
class environment_variables {
 public:
  std::vector<const char*> all;
  std::vector<std::string> kept;  ///< what they point to where the system does not keep it
};
/// Of this process. Valid as long as nobody changes it.
///
/// @throws  std::bad_alloc
environment_variables own_environment();

class started_child {
 public:
  int id = 0;
  native_descriptor end = no_descriptor;  ///< readable once it has ended; the caller's
  /// The group that it leads, where the system has a descriptor for that; the caller's.
  native_descriptor group = no_descriptor;
};

class start_failure {
 public:
  explicit operator bool() const noexcept { return static_cast<bool>(error); }
  process_step step = process_step::create;
  std::error_code error;
};

/// Waits until the child is another program, or has failed.
///
/// post: without a failure there is a child, to be taken by take_exit(); else there is none
start_failure start_child(const child_plan& plan, started_child& made) noexcept;

/// Whether it is gone after one has heard of its end.
enum class taking : std::uint8_t { taken, left };

/// Never waits.
///
/// post: if it has ended and is taken it is gone, and its number may be another one's
/// @returns  nothing: it has not ended; no_child_process: somebody else has taken it
result<std::optional<process_exit>> exit_of(const started_child& child, taking what) noexcept;

enum class ending : std::uint8_t { terminate, kill };
int signal_of(ending how) noexcept;
/// pre: it has not been taken
/// @param to_group  the one that it leads
[[nodiscard]] std::error_code send_signal(const started_child& child, int number,
                                          bool to_group) noexcept;

/// Which process this is: another one in a child of fork().
int own_id() noexcept;
/// From now on they are called around every fork(): a lock that is held over it is free in the
/// child. Those that come later run earlier before it, and later after it.
///
/// @returns  false: there is no memory
[[nodiscard]] bool at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;
/// @returns  a descriptor, not inherited across exec; waits for a FIFO's other end
result<native_descriptor> open_for_child(const process_stdio& what) noexcept;
/// One of this process's standard streams, by its number, as a program that is executed here would
/// have it: no_descriptor if that has none (it is closed, or close-on-exec).
native_descriptor standard_stream(int number) noexcept;

/// Waits until one of them is readable, or the time is over. Negative: however long it takes.
void wait_for_any(std::span<const native_descriptor> ends,
                  std::chrono::milliseconds limit) noexcept;
/// For those who wait so: `seen` is readable from set_wake() to clear_wake().
class wake_pair {
 public:
  native_descriptor seen = no_descriptor;
  native_descriptor set = no_descriptor;
};
result<wake_pair> make_wake() noexcept;
void set_wake(const wake_pair& wake) noexcept;
void clear_wake(const wake_pair& wake) noexcept;

}  // namespace tandem::inline v0::io::platform
