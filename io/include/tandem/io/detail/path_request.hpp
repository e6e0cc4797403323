// path_request.hpp: what is asked of a path: its parts lie in the awaiter.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::detail {

/// Flags of a file_request of a path; a system's folder knows what they are there.
enum path_flag : int {
  follows_links = 1,     ///< a symbolic link at the end of the path is followed
  names_directory = 2,   ///< what is removed is an empty directory
  replaces_nothing = 4,  ///< a rename to a name that is there fails
};

/// The folder of `path` is the request's descriptor; none: the process's current one.
class path_request {
 public:
  const char* path = nullptr;
  native_descriptor other_folder = no_descriptor;
  /// rename, link: the new name, relative to the other folder. symlink: what it says.
  const char* other_path = nullptr;
  /// status_at: room for the system's answer; read_link: a std::string; list: a listing;
  /// remove_tree: a tree_removal.
  void* answer = nullptr;
};

}  // namespace tandem::inline v0::io::detail
