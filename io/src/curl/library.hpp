// library.hpp: curl's header, and its handles as owned things.
// SPDX-License-Identifier: MIT
#pragma once

// Handles of different kinds are different types.
#define CURL_STRICTER
#include <curl/curl.h>

#include <memory>
#include <new>

namespace tandem::inline v0::io::curl {

struct easy_end {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};
struct multi_end {
  void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};
struct share_end {
  void operator()(CURLSH* handle) const noexcept { curl_share_cleanup(handle); }
};
struct list_end {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
struct url_end {
  void operator()(CURLU* parsed) const noexcept { curl_url_cleanup(parsed); }
};
struct text_end {
  void operator()(char* text) const noexcept { curl_free(text); }
};

using easy_handle = std::unique_ptr<CURL, easy_end>;
using multi_handle = std::unique_ptr<CURLM, multi_end>;
using share_handle = std::unique_ptr<CURLSH, share_end>;
using text_list = std::unique_ptr<curl_slist, list_end>;
using parsed_url = std::unique_ptr<CURLU, url_end>;
using owned_text = std::unique_ptr<char, text_end>;

/// @throws  std::bad_alloc
template <class Owned, class Raw>
Owned made_or_no_memory(Raw* raw) {
  if (raw == nullptr) throw std::bad_alloc();
  return Owned(raw);
}

/// Once in a process, whoever is first. @throws std::runtime_error
void start_library();

}  // namespace tandem::inline v0::io::curl
