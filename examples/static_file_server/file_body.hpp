// file_body.hpp: the file that an answer carries: found below a root, and opened.
// SPDX-License-Identifier: MIT
//
// All that knows how files are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/task.hpp>

namespace files {

/// An open file. Move-only.
class file_body {
 public:
  bool is_open() const noexcept { return file_.is_open(); }
  std::uint64_t size() const noexcept { return size_; }
  /// Changes when the file does.
  const std::string& tag() const noexcept { return tag_; }

  /// What is sent from.
  tandem::io::file& contents() noexcept { return file_; }

 private:
  friend tandem::task<file_body> open_below(tandem::io::file&, std::string);
  tandem::io::file file_;
  std::uint64_t size_ = 0;
  std::string tag_;
};

/// Opens `relative` below `root`.
///
/// @param root      the folder
/// @param relative  as relative_path() gives it
/// @returns         not open if there is no such regular file, it may not be read, or symbolic
///                  links lead out of the root
tandem::task<file_body> open_below(tandem::io::file& root, std::string relative);

}  // namespace files
