// key_log.cpp: lines of secrets, in the form that Wireshark reads.
// SPDX-License-Identifier: MIT
#include "tls/key_log.hpp"

#include <cerrno>
#include <tandem/io/tls/errors.hpp>

namespace tandem::inline v0::io::detail {

tls_key_log::tls_key_log(const std::filesystem::path& path)
    : file_(std::fopen(path.string().c_str(), "ae")) {
  if (file_ != nullptr) return;
  const std::error_code why(errno, std::generic_category());
  throw tls::error(tls::errc::bad_option,
                   "key_log: " + path.string() + " cannot be opened for writing: " + why.message(),
                   "");
}

void tls_key_log::add(const char* line) noexcept {
  const std::lock_guard held(lock_);
  (void)std::fprintf(file_.get(), "%s\n", line);
  (void)std::fflush(file_.get());
}

}  // namespace tandem::inline v0::io::detail
