// options.cpp: reading PEM, and words for versions.
// SPDX-License-Identifier: MIT
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <tandem/io/tls/errors.hpp>
#include <tandem/io/tls/options.hpp>

namespace tandem::inline v0::io::tls {

std::string pem::name() const { return path_.empty() ? "text given in memory" : path_.string(); }

std::string pem::read() const {
  if (path_.empty()) return text_;
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path_.string().c_str(), "rb"), &std::fclose);
  std::string content;
  std::array<char, 4096> room;
  while (file != nullptr && std::feof(file.get()) == 0 && std::ferror(file.get()) == 0) {
    content.append(room.data(), std::fread(room.data(), 1, room.size(), file.get()));
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    const std::error_code why(errno != 0 ? errno : EIO, std::generic_category());
    throw error(errc::bad_option, name() + " cannot be read: " + why.message(), "");
  }
  return content;
}

std::string_view to_string(version of) noexcept {
  return of == version::tls1_2 ? "TLS 1.2" : "TLS 1.3";
}

}  // namespace tandem::inline v0::io::tls
