// file_use.hpp: a file that is in use, so that nobody closes it meanwhile.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/file_handle.hpp>

namespace tandem::inline v0::io::detail {

/// Counts as an operation in flight for as long as it lives: of a task that makes several.
class file_use {
 public:
  explicit file_use(file_handle& used) noexcept : used_(&used) { used.begin_operation(); }
  file_use(const file_use&) = delete;
  file_use& operator=(const file_use&) = delete;
  ~file_use() { used_->end_operation(); }

 private:
  file_handle* used_;
};

}  // namespace tandem::inline v0::io::detail
