// page_handler.cpp: GET /: the page.
// SPDX-License-Identifier: MIT
#include <string>

#include "page.hpp"
#include "router.hpp"

namespace service {

tandem::task<http_response> show_page(exchange&) {
  co_return http_response(200, "text/html; charset=utf-8", std::string(page_html));
}

}  // namespace service
