// directories.cpp: what is the same for directories on every system.
// SPDX-License-Identifier: MIT
#include "platform/directories.hpp"

#include <utility>

namespace tandem::inline v0::io::platform {

std::int32_t read_listing(detail::file_request& request) noexcept {
  auto& found = *static_cast<detail::listing*>(request.what().answer);
  found.entries.clear();
  if (!found.opened.is_open()) {
    const std::int32_t opened =
        open_listing(request.descriptor(), request.what().path, request.flags());
    if (opened < 0) return opened;
    found.opened = owned_descriptor(detail::descriptor_of(opened));
  }
  // A part may have "." and ".." alone.
  std::int32_t outcome = 1;
  while (outcome > 0 && found.entries.empty()) {
    outcome = read_entries(found.opened.native_handle(), found.entries);
  }
  if (outcome < 0) {
    found.entries.clear();
    return outcome;
  }
  found.has_ended = outcome == 0;
  return 0;
}

std::string_view tree_path(std::string_view path) noexcept {
  while (path.size() > 1 && is_separator(path.back())) path.remove_suffix(1);
  std::size_t at = path.size();
  while (at > 0 && !is_separator(path[at - 1])) --at;
  const std::string_view last = path.substr(at);
  return last == "." || last == ".." ? std::string_view() : last.empty() ? last : path;
}

}  // namespace tandem::inline v0::io::platform
