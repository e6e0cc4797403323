// start_plan.cpp: arguments, environment, search path and descriptors of a child.
// SPDX-License-Identifier: MIT
#include "process/start_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <tandem/io/process_start_error.hpp>

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw process_start_error(std::make_error_code(std::errc::invalid_argument),
                            process_step::options, "process::start: " + why);
}

void refuse_zero_bytes(const std::string& text, const char* what) {
  if (text.find('\0') != std::string::npos) refuse(std::string(what) + " has a zero byte");
}

/// @param before  what comes first
std::vector<const char*> pointers_to(const std::vector<std::string>& texts,
                                     std::span<const char* const> before = {}) {
  std::vector<const char*> made;
  made.reserve(before.size() + texts.size() + 1);
  made.assign(before.begin(), before.end());
  for (const std::string& each : texts) made.push_back(each.c_str());
  made.push_back(nullptr);
  return made;
}

std::string_view name_of(std::string_view variable) noexcept {
  return variable.substr(0, variable.find('='));
}

}  // namespace

start_plan::start_plan(const std::vector<std::string>& argv, const process_options& options)
    : arguments_(argv), directory_(options.directory), group_(options.group) {
  if (argv.empty() || argv.front().empty()) refuse("argv names no program");
  for (const std::string& each : argv) refuse_zero_bytes(each, "an argument");
  // The system takes 0 for a group of its own.
  if (group_.what() == process_group::kind::joined && group_.leader() <= 0) {
    refuse("process_group::joined() is for the number of a process that leads a group, not " +
           std::to_string(group_.leader()));
  }
  refuse_zero_bytes(directory_, "the directory");
  for (const passed_descriptor& each : options.descriptors) {
    if (!detail::is_descriptor(each.here)) refuse("a descriptor that is passed is none");
    if (each.number < 3) {
      refuse("descriptors are passed as numbers from 3 on; 0 to 2 are the standard streams");
    }
    files_.push_back({each.number, each.here});
  }
  make_environment(options);
  find_programs();
}

void start_plan::make_environment(const process_options& options) {
  if (options.inherits_environment) inherited_ = platform::own_environment();
  std::erase_if(inherited_.all, [&](std::string_view ours) {
    return std::ranges::any_of(options.environment, [&](const auto& changed) {
      return platform::is_same_variable(name_of(ours), changed.first);
    });
  });
  for (const auto& [name, value] : options.environment) {
    if (name.empty() || name.find('=') != std::string::npos) {
      refuse("'" + name + "' is no name of a variable of the environment");
    }
    refuse_zero_bytes(name, "a name of the environment");
    if (!value) continue;
    refuse_zero_bytes(*value, "a value of the environment");
    changed_.push_back(name + "=" + *value);
  }
}

void start_plan::find_programs() {
  const std::string& name = arguments_.front();
  if (platform::has_folder(name)) {
    programs_.push_back(name);
    return;
  }
  const platform::search_words words = platform::words_of_search();
  std::string_view folders = words.usual;
  const auto look_at = [&folders](std::string_view each) {
    if (!platform::is_same_variable(name_of(each), "PATH")) return;
    folders = each.substr((std::min)(each.size(), name_of(each).size() + 1));
  };
  for (const char* const each : inherited_.all) look_at(each);
  for (const std::string& each : changed_) look_at(each);
  while (true) {
    const std::size_t end = folders.find(words.between);
    const std::string_view folder = folders.substr(0, end);
    programs_.push_back(folder.empty() ? name : std::string(folder) + words.after + name);
    if (end == std::string_view::npos) return;
    folders.remove_prefix(end + 1);
  }
}

bool start_plan::names_directory() const noexcept {
  return std::ranges::any_of(programs_, [this](const std::string& each) {
    std::error_code unknown;
    // Which an absolute path takes the place of.
    return std::filesystem::is_directory(std::filesystem::path(directory_) / each, unknown);
  });
}

platform::child_plan start_plan::plan() {
  for (int number = 0; number < 3; ++number) {
    files_.push_back({static_cast<native_descriptor>(number), given(number)});
  }
  std::ranges::sort(files_, {}, &platform::child_file::number);
  if (std::ranges::adjacent_find(files_, {}, &platform::child_file::number) != files_.end()) {
    refuse("two descriptors are passed as the same number");
  }
  argument_pointers_ = pointers_to(arguments_);
  program_pointers_ = pointers_to(programs_);
  platform::child_plan made;
  made.arguments = argument_pointers_.data();
  made.programs = program_pointers_.data();
  environment_pointers_ = pointers_to(changed_, inherited_.all);
  made.environment = environment_pointers_.data();
  if (!directory_.empty()) made.directory = directory_.c_str();
  made.files = files_;
  made.group = group_.what();
  made.leader = group_.leader();
  return made;
}

}  // namespace tandem::inline v0::io
