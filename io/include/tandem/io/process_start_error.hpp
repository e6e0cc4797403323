// process_start_error.hpp: why a process could not be started.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// What was being done when it failed.
enum class process_step : std::uint8_t {
  options,          ///< looking at argv and the options
  standard_input,   ///< opening it, or making its pipe
  standard_output,  ///< likewise
  standard_error,   ///< likewise
  create,           ///< making the process
  group,            ///< joining the process group, or becoming the leader of one (setpgid)
  session,          ///< becoming the leader of a session (setsid)
  directory,        ///< changing to its directory (chdir)
  descriptors,      ///< giving its descriptors their numbers (dup2)
  exec,             ///< running the program
};

/// What process::start() throws when the system refuses: its code is that of the system, and what()
/// names the step, the program or path, and what to do.
///
///     catch (const tandem::io::process_start_error& failure) {
///       if (failure.step() == tandem::io::process_step::exec) print("not installed?");
///     }
class TANDEM_IO_API process_start_error : public std::system_error {
 public:
  process_start_error(std::error_code error, process_step step, const std::string& what);
  process_start_error(const process_start_error&) noexcept = default;
  process_start_error& operator=(const process_start_error&) noexcept = default;
  ~process_start_error() override;

  process_step step() const noexcept { return step_; }

 private:
  process_step step_;
};

}  // namespace tandem::inline v0::io
