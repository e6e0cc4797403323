// start_plan.hpp: what the options of a process come to, in the words of the system.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/process_options.hpp>
#include <vector>

#include "platform/processes.hpp"

namespace tandem::inline v0::io {

/// Holds the memory of a child_plan, and what was opened for the child only.
class start_plan {
 public:
  /// @throws  process_start_error: the options make no sense
  start_plan(const std::vector<std::string>& argv, const process_options& options);
  start_plan(const start_plan&) = delete;
  start_plan& operator=(const start_plan&) = delete;
  ~start_plan() = default;

  /// The child's standard stream of that number is this. It is closed here with the plan.
  void give(int number, owned_descriptor open) {
    give_ours(number, open.native_handle());
    opened_.push_back(std::move(open));
  }
  /// As above; it stays open here.
  void give_ours(int number, native_descriptor open) {
    streams_[static_cast<std::size_t>(number)] = open;
  }
  native_descriptor given(int number) const noexcept {
    return streams_[static_cast<std::size_t>(number)];
  }

  /// Valid as long as this is. After all that is given.
  platform::child_plan plan();
  /// For people.
  const std::string& program() const noexcept { return arguments_.front(); }
  const std::string& directory() const noexcept { return directory_; }
  /// Whether there is a directory where the program was looked for. Asks the system.
  bool names_directory() const noexcept;

 private:
  void make_environment(const process_options& options);
  void find_programs();

  std::vector<std::string> arguments_;
  platform::environment_variables inherited_;  // but for those that are changed
  std::vector<std::string> changed_;           // those that have a value
  std::vector<std::string> programs_;
  std::vector<const char*> argument_pointers_;
  std::vector<const char*> environment_pointers_;
  std::vector<const char*> program_pointers_;
  std::string directory_;
  process_group group_;
  native_descriptor streams_[3] = {no_descriptor, no_descriptor, no_descriptor};
  std::vector<platform::child_file> files_;
  std::vector<owned_descriptor> opened_;
};

}  // namespace tandem::inline v0::io
