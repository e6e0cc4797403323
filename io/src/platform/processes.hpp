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
#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/process_exit.hpp>
#include <tandem/io/process_options.hpp>
#include <tandem/io/process_start_error.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// A number of the child's, and which descriptor of ours it is there: no_descriptor if it is to be
/// closed.
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

class started_child {
 public:
  int id = 0;
  native_descriptor end = no_descriptor;  ///< readable once it has ended; the caller's
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
/// Of this process; ends with null. Valid as long as nobody changes it.
const char* const* own_environment() noexcept;
/// @returns  a descriptor, not inherited across exec; waits for a FIFO's other end
result<native_descriptor> open_for_child(const process_stdio& what) noexcept;
/// One of this process's standard streams, by its number.
constexpr native_descriptor standard_stream(int number) noexcept {
  return static_cast<native_descriptor>(number);
}

/// Whether a program that is executed here would have it: it is open, and not close-on-exec.
bool is_inherited(native_descriptor descriptor) noexcept;

/// Waits until one of them is readable, or the time is over. Negative: however long it takes.
void wait_for_any(std::span<const native_descriptor> ends,
                  std::chrono::milliseconds limit) noexcept;
/// Of a pipe that does not wait: makes it readable, or takes out all that is there.
void write_byte(native_descriptor writer) noexcept;
void drain(native_descriptor reader) noexcept;

}  // namespace tandem::inline v0::io::platform
