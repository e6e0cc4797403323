// directory_reader.cpp: hands out what a call has found, and makes the next one.
// SPDX-License-Identifier: MIT
#include <tandem/io/directory_reader.hpp>

#include <string>

namespace tandem::inline v0::io {

directory_read_awaiter::directory_read_awaiter(directory_reader& reader)
    // Once it is open, the folder is not needed any more, and may have gone.
    : path_awaiter(detail::file_action::list,
                   reader.found_.opened.is_open() ? nullptr : reader.folder_, reader.path_,
                   reader.links_ == symlinks::follow ? detail::follows_links : 0),
      reader_(&reader) {}

bool directory_read_awaiter::await_ready() noexcept {
  detail::listing& found = reader_->found_;
  is_there_ = found.has_ended || reader_->next_ < found.entries.size();
  if (is_there_) return true;
  answer_to(&found);
  return path_awaiter::await_ready();
}

std::optional<directory_entry> directory_reader::take() {
  if (next_ >= found_.entries.size())  // also of one that was moved away
    return std::nullopt;
  const auto& entry = found_.entries[next_++];
  return directory_entry(std::string(found_.entries.name_of(entry)), entry.kind, entry.inode);
}

std::optional<directory_entry> directory_read_awaiter::await_resume() {
  if (!is_there_) {
    if (const std::error_code failure = end()) throw_failure(failure);
    reader_->next_ = 0;
  }
  return reader_->take();
}

result<std::optional<directory_entry>> directory_read_awaiter::await_resume_result() {
  if (!is_there_) {
    if (const std::error_code failure = end()) return failure;
    reader_->next_ = 0;
  }
  return reader_->take();
}

}  // namespace tandem::inline v0::io
