// file_body.cpp: finding files below a root.
// SPDX-License-Identifier: MIT
#include "file_body.hpp"

#include <tandem/as_result.hpp>
#include <utility>

namespace files {

tandem::task<file_body> open_below(tandem::io::file& root, std::string relative) {
  file_body result;
  // Not a look first and then an open by name: somebody may have put a link there in between.
  auto opened = co_await tandem::as_result(root.open_beneath(std::move(relative)));
  if (!opened) co_return result;
  tandem::io::file file = std::move(opened).value();
  const tandem::io::file_status status = co_await file.status();
  if (status.kind != tandem::io::file_kind::regular) co_return result;
  result.size_ = status.size;
  result.tag_ = '"' + std::to_string(status.size) + '-' +
                std::to_string(status.modified.time_since_epoch().count()) + '"';
  result.file_ = std::move(file);
  co_return result;
}

}  // namespace files
