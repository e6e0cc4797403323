// short_text.hpp: a text of bounded length, for what is said when there may be no memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>

namespace tandem::inline v0::detail {

class short_text {
 public:
  short_text() noexcept = default;

  /// What does not fit is left out.
  void assign(const char* before, const char* text) noexcept {
    (void)std::snprintf(text_, sizeof text_, "%s%s", before, text);
  }
  /// As the name of a thread.
  void assign(const char* name, unsigned number) noexcept {
    (void)std::snprintf(text_, sizeof text_, "%s-%u", name, number);
  }
  const char* c_str() const noexcept { return text_; }

 private:
  char text_[200] = {};
};

}  // namespace tandem::inline v0::detail
