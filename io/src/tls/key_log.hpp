// key_log.hpp: the file for the secrets of connections, if one is asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>

namespace tandem::inline v0::io::detail {

/// @thread_safety  any thread
class tls_key_log {
 public:
  /// @throws  tls::error (bad_option)
  explicit tls_key_log(const std::filesystem::path& path);
  /// A line, whole: several processes may share the file.
  void add(const char* line) noexcept;

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
  };
  std::mutex lock_;
  std::unique_ptr<std::FILE, closer> file_;
};

}  // namespace tandem::inline v0::io::detail
