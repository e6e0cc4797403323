// library.cpp: curl is made ready once, and never taken down: others in this process may use it.
// SPDX-License-Identifier: MIT
#include "curl/library.hpp"

#include <stdexcept>
#include <string>

namespace tandem::inline v0::io::curl {

void start_library() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started == CURLE_OK) return;
  throw std::runtime_error(std::string("curl cannot be set up: curl_global_init says ") +
                           curl_easy_strerror(started));
}

}  // namespace tandem::inline v0::io::curl
