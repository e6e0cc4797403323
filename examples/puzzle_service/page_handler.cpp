// page_handler.cpp: GET / and what the page consists of.
// SPDX-License-Identifier: MIT
#include <string>

#include "page.hpp"
#include "router.hpp"

namespace service {

tandem::task<http_response> show_page(exchange& call) {
  const page_file& file = *find_page_file(call.request.path);
  co_return http_response(200, file.content_type, std::string(file.text));
}

}  // namespace service
