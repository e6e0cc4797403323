// suppressed.cpp: where failures go that nobody is left to hear of.
// SPDX-License-Identifier: MIT
#include "process/suppressed.hpp"

#include <cstdio>

#include <tandem/detail/failure_text.hpp>

namespace tandem::inline v0::detail {

void suppressed(const runtime_options& options, const std::exception_ptr& failure) noexcept {
  if (options.on_suppressed_exception) {
    try {
      options.on_suppressed_exception(failure);
      return;
    } catch (...) {
      std::fprintf(stderr, "tandem: runtime_options::on_suppressed_exception has thrown: %s\n",
                   text_of(std::current_exception()));
    }
  }
  std::fprintf(stderr, "tandem: a further failure, after the one that is reported: %s\n",
               text_of(failure));
}

}  // namespace tandem::inline v0::detail
