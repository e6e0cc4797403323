// page.hpp: the files of the page, made from the folder page when the service is built.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace service {

class page_file {
 public:
  constexpr page_file(std::string_view where, std::string_view type, std::string_view content)
      : path(where), content_type(type), text(content) {}

  std::string_view path;  ///< "/" is the page itself
  std::string_view content_type;
  std::string_view text;
};

/// @returns             null if there is no file at that path
const page_file* find_page_file(std::string_view path) noexcept;

}  // namespace service
