// replace_file.cpp: a new file beside the old one, its contents, its name.
// SPDX-License-Identifier: MIT
#include "platform/replace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <tandem/detail/random.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

[[noreturn]] void fail(const char* step, const std::string& path) {
  throw failed_step(last_number(), step, path);
}

std::wstring wide_of(const std::string& path) {
  std::wstring wide;
  if (!to_wide(path, wide)) throw failed_step(number_of(ERROR_INVALID_NAME), "name", path);
  return wide;
}

/// With its last slash; empty: the current one.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\:");
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// Where symbolic links lead, if there is a file.
std::string target_of(const std::string& path) {
  const HANDLE opened = ::CreateFileW(wide_of(path).c_str(), FILE_READ_ATTRIBUTES,
                                      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (opened == INVALID_HANDLE_VALUE) return path;  // an error that comes again, or none
  const owned_handle there(opened);
  std::wstring name(512, L'\0');
  const auto ask = [&] {
    return ::GetFinalPathNameByHandleW(there.get(), name.data(), static_cast<DWORD>(name.size()),
                                       0);
  };
  DWORD size = ask();
  if (size >= name.size()) {
    name.resize(size + 1);
    size = ask();
  }
  if (size == 0 || size >= name.size()) return path;
  name.resize(size);
  return to_utf8(name);
}

/// A file of which nobody knows yet. Its end takes it away, unless it has got its name.
class new_file {
 public:
  new_file(const std::string& folder, bool is_read_only) {
    constexpr int most_tries = 100;
    for (int i = 0; i < most_tries; ++i) {
      std::array<char, 32> name{};
      (void)std::snprintf(name.data(), name.size(), ".tandem-%016llx.tmp",
                          static_cast<unsigned long long>(tandem::detail::random_bits()));
      path_ = folder + name.data();
      wide_ = wide_of(path_);
      handle_ =
          ::CreateFileW(wide_.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                        is_read_only ? FILE_ATTRIBUTE_READONLY : FILE_ATTRIBUTE_NORMAL, nullptr);
      if (handle_ != INVALID_HANDLE_VALUE) return;
      if (::GetLastError() != ERROR_FILE_EXISTS) break;
    }
    const std::string path = std::exchange(path_, std::string());
    fail("create", path);
  }
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  ~new_file() {
    if (handle_ != INVALID_HANDLE_VALUE) ::CloseHandle(handle_);
    if (path_.empty()) return;
    (void)::SetFileAttributesW(wide_.c_str(), FILE_ATTRIBUTE_NORMAL);
    (void)::DeleteFileW(wide_.c_str());
  }

  void write(std::span<const std::byte> bytes) const {
    constexpr std::size_t between_looks = std::size_t{1} << 20;
    while (!bytes.empty()) {
      tandem::throw_if_stopped();
      DWORD count = 0;
      const auto asked = static_cast<DWORD>(std::min(bytes.size(), between_looks));
      if (::WriteFile(handle_, bytes.data(), asked, &count, nullptr) == 0) fail("write", path_);
      bytes = bytes.subspan(count);
    }
  }
  void sync() const {
    if (::FlushFileBuffers(handle_) == 0) fail("sync", path_);
  }
  void take_name(const std::string& target, bool exists, bool durable) {
    if (::CloseHandle(std::exchange(handle_, INVALID_HANDLE_VALUE)) == 0) fail("close", path_);
    tandem::throw_if_stopped();
    const std::wstring name = wide_of(target);
    // The old one's rights and attributes stay with its name; where that is refused (another file
    // system, no right to them) the name is taken all the same.
    if (exists && ::ReplaceFileW(name.c_str(), wide_.c_str(), nullptr, 0, nullptr, nullptr) != 0) {
      path_.clear();
      return;
    }
    const DWORD how = MOVEFILE_REPLACE_EXISTING | (durable ? MOVEFILE_WRITE_THROUGH : 0U);
    if (::MoveFileExW(wide_.c_str(), name.c_str(), how) == 0) fail("replace", target);
    path_.clear();
  }

 private:
  std::string path_;
  std::wstring wide_;
  HANDLE handle_ = INVALID_HANDLE_VALUE;
};

}  // namespace

void replace_file(const std::string& path, std::span<const std::byte> bytes,
                  const write_options& options) {
  const std::string target = target_of(path);
  const DWORD there = ::GetFileAttributesW(wide_of(target).c_str());
  const bool exists = there != INVALID_FILE_ATTRIBUTES;
  if (exists && (there & FILE_ATTRIBUTE_DIRECTORY) != 0)
    throw failed_step(EISDIR, "replace", target);
  new_file made(folder_of(target), !exists && (options.permissions & 0222U) == 0);
  made.write(bytes);
  if (options.durable) made.sync();
  made.take_name(target, exists, options.durable);
}

}  // namespace tandem::inline v0::io::platform
