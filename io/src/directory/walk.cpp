// walk.cpp: a walk in a scope of its own.
// SPDX-License-Identifier: MIT
#include <tandem/io/walk.hpp>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <tandem/task_scope.hpp>
#include <utility>

#include "directory/tree_walk.hpp"
#include "platform/error_number.hpp"

namespace tandem::inline v0::io::detail {

walk_visitor::~walk_visitor() = default;

task<walk_summary> run_walk(file_handle* folder, std::string root,
                            std::unique_ptr<walk_visitor> visitor, walk_options options) {
  if (options.batch_entries == 0) {
    throw std::invalid_argument("walk_options: batch_entries is 0");
  }
  const int error = folder != nullptr && !folder->is_open() ? EBADF
                    : root.find('\0') != std::string::npos  ? EINVAL
                                                            : 0;
  if (error != 0) throw std::system_error(platform::error_of(error), "walk \"" + root + '"');
  tree_walk walk(folder, std::move(root), *visitor, std::move(options));
  co_await with_scope([&](task_scope& scope) { return walk.pump(scope); });
  co_return walk.summary();
}

}  // namespace tandem::inline v0::io::detail
