// page.hpp: the page of GET /, made from page.html when the service is built.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace service {

extern const std::string_view page_html;

}  // namespace service
