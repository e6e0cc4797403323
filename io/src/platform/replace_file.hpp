// replace_file.hpp: a new file that takes an old one's name.
// SPDX-License-Identifier: MIT
//
// Step files/replace. Most of it has no other way than calls that wait, so it runs on a thread of
// blocking(); it looks for a stop between them, and between the pieces that it writes.
//
// A failure is thrown: it ends the whole, and has to say in which step.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <tandem/io/write_file.hpp>
#include <utility>

#include "platform/error_number.hpp"

namespace tandem::inline v0::io::platform {

/// What replace_file() throws: tell() adds the name of the target.
class failed_step {
 public:
  failed_step(int error, const char* step, std::string path)
      : error_(error), step_(step), path_(std::move(path)) {}

  [[noreturn]] void tell(const std::string& target) const {
    std::string text = "tandem::io::write_file \"" + target + "\": " + step_;
    if (path_ != target) text += " \"" + path_ + '"';
    throw std::system_error(error_of(error_), text);
  }

 private:
  int error_;
  const char* step_;
  std::string path_;
};

/// All or nothing; waits for the disk. Two at a time on one path are fine: one of them is last.
///
/// pre: a thread of blocking(), whose stop is asked for; `path` is not empty and has no zero in it
/// post: the file of that name, at the end of all links, holds `bytes`, with the permissions and,
///       as far as we may give files away, the owner of the old one; no other name is left behind
///
/// @throws  failed_step; operation_cancelled; std::bad_alloc; then the old file is as it was,
///          unless it was only the folder that could not be synced
void replace_file(const std::string& path, std::span<const std::byte> bytes,
                  const write_options& options);

}  // namespace tandem::inline v0::io::platform
