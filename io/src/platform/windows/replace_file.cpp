// replace_file.cpp: a new file beside the old one, its contents, its name.
// SPDX-License-Identifier: MIT
#include "platform/replace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <memory>
#include <mutex>
#include <string>
#include <tandem/detail/random.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

[[noreturn]] void fail(const char* step, const std::wstring& path) {
  const int error = last_number();
  throw failed_step(error, step, to_utf8(path));
}

/// With its last slash; empty: the current one.
std::wstring folder_of(const std::wstring& path) {
  const std::size_t slash = path.find_last_of(LR"(/\:)");
  return slash == std::wstring::npos ? std::wstring() : path.substr(0, slash + 1);
}

constexpr DWORD shared_by_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Held while an old file is open here or gets its successor: some file systems refuse a file that
/// is open a successor, and of several tasks that write the same one none is to fail by that.
std::mutex& naming() {
  static std::mutex one;
  return one;
}

/// What is there under that name, at the end of all links.
class old_file {
 public:
  explicit old_file(const std::string& path) {
    if (!to_wide_path(path, path_)) {
      throw failed_step(number_of(ERROR_INVALID_NAME), "name", path);
    }
    const std::lock_guard lock(naming());
    open();
    if (handle_.is_open()) follow();
    close();
  }

  const std::wstring& path() const noexcept { return path_; }
  bool exists() const noexcept { return attributes_ != INVALID_FILE_ATTRIBUTES; }
  DWORD attributes() const noexcept { return exists() ? attributes_ : 0; }
  /// If it is there. pre: naming() is held until close()
  void open() {
    constexpr DWORD asked = FILE_READ_ATTRIBUTES;
    for (const DWORD access : {asked | READ_CONTROL, asked}) {
      handle_ = owned_handle(::CreateFileW(path_.c_str(), access, shared_by_all, nullptr,
                                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
      if (handle_.is_open() || ::GetLastError() != ERROR_ACCESS_DENIED) break;
    }
    // If it is not: an error that comes again, or none there.
    attributes_ = ::GetFileAttributesW(path_.c_str());
  }
  /// Whether the path begins at a volume, whatever the current folder is.
  bool is_whole() const noexcept { return is_whole_; }
  /// Gives another file the same rights and attributes. @returns  whether it has them
  bool pass_on_to(HANDLE other) const {
    if (!handle_.is_open()) return false;
    DWORD bytes = 0;
    constexpr SECURITY_INFORMATION rights = DACL_SECURITY_INFORMATION;
    (void)::GetKernelObjectSecurity(handle_.get(), rights, nullptr, 0, &bytes);
    const auto room = std::make_unique<std::byte[]>(bytes);
    if (bytes == 0 ||
        ::GetKernelObjectSecurity(handle_.get(), rights, room.get(), bytes, &bytes) == 0) {
      return false;
    }
    SECURITY_DESCRIPTOR_CONTROL control = 0;
    DWORD revision = 0;
    if (::GetSecurityDescriptorControl(room.get(), &control, &revision) == 0) return false;
    if ((control & SE_DACL_AUTO_INHERITED) != 0) {  // else they would be as if given by hand
      (void)::SetSecurityDescriptorControl(room.get(), SE_DACL_AUTO_INHERIT_REQ,
                                           SE_DACL_AUTO_INHERIT_REQ);
    }
    if (::SetKernelObjectSecurity(other, rights, room.get()) == 0) return false;
    constexpr DWORD kept = FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM | FILE_ATTRIBUTE_ARCHIVE |
                           FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;
    FILE_BASIC_INFO about{};  // times of 0 stay as they are
    about.FileAttributes = attributes() & kept;
    if (about.FileAttributes == 0) about.FileAttributes = FILE_ATTRIBUTE_NORMAL;
    return ::SetFileInformationByHandle(other, FileBasicInfo, &about, sizeof about) != 0;
  }
  /// Only its path is needed any more; a file that is open refuses some successors.
  void close() noexcept { (void)handle_.close(); }

 private:
  void follow() {
    std::wstring name(512, L'\0');
    const auto ask = [&] {
      return ::GetFinalPathNameByHandleW(handle_.get(), name.data(),
                                         static_cast<DWORD>(name.size()), 0);
    };
    DWORD size = ask();
    if (size >= name.size()) {
      name.resize(size + 1);
      size = ask();
    }
    if (size == 0 || size >= name.size()) return;
    name.resize(size);
    path_ = std::move(name);
    is_whole_ = true;
  }

  std::wstring path_;
  owned_handle handle_;
  DWORD attributes_ = INVALID_FILE_ATTRIBUTES;
  bool is_whole_ = false;
};

/// A file of which nobody knows yet. Its end takes it away, unless it has got its name.
class new_file {
 public:
  new_file(const std::wstring& folder, bool is_read_only) {
    // The right that old_file::pass_on_to() needs; not every server gives it.
    DWORD access = GENERIC_WRITE | WRITE_DAC;
    constexpr int most_tries = 100;
    for (int i = 0; i < most_tries; ++i) {
      std::array<wchar_t, 32> name{};
      (void)std::swprintf(name.data(), name.size(), L".tandem-%016llx.tmp",
                          static_cast<unsigned long long>(tandem::detail::random_bits()));
      path_ = folder + name.data();
      lift_limit(path_);
      handle_ = owned_handle(
          ::CreateFileW(path_.c_str(), access, 0, nullptr, CREATE_NEW,
                        is_read_only ? FILE_ATTRIBUTE_READONLY : FILE_ATTRIBUTE_NORMAL, nullptr));
      if (handle_.is_open()) return;
      const DWORD error = ::GetLastError();
      if (error == ERROR_ACCESS_DENIED && std::exchange(access, GENERIC_WRITE) != GENERIC_WRITE) {
        continue;
      }
      if (error != ERROR_FILE_EXISTS) break;
    }
    const std::wstring path = std::exchange(path_, std::wstring());
    fail("create", path);
  }
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  ~new_file() {
    (void)handle_.close();
    if (path_.empty()) return;
    (void)::SetFileAttributesW(path_.c_str(), FILE_ATTRIBUTE_NORMAL);
    (void)::DeleteFileW(path_.c_str());
  }

  void write(std::span<const std::byte> bytes) const {
    constexpr std::size_t between_looks = std::size_t{1} << 20;
    while (!bytes.empty()) {
      tandem::throw_if_stopped();
      DWORD count = 0;
      const auto asked = static_cast<DWORD>(std::min(bytes.size(), between_looks));
      if (::WriteFile(handle_.get(), bytes.data(), asked, &count, nullptr) == 0) {
        fail("write", path_);
      }
      bytes = bytes.subspan(count);
    }
  }
  void sync() const {
    if (::FlushFileBuffers(handle_.get()) == 0) fail("sync", path_);
  }
  void take_name(old_file& target, bool durable) {
    tandem::throw_if_stopped();
    std::unique_lock lock(naming());
    target.open();
    const bool takes_over =
        target.exists() && target.is_whole() && target.pass_on_to(handle_.get());
    if (!handle_.close()) fail("close", path_);
    target.close();
    if (!takes_over || !rename(target.path())) replace(target);
    lock.unlock();
    path_.clear();
    if (durable) sync_name_of(target.path());
  }

 private:
  /// In one step; whoever has the old one open keeps it, as on other systems (Windows 10, 1607;
  /// NTFS). Else in one step as long as nobody has it open.
  bool rename(const std::wstring& target) const {
    // Shared by all, and without the right to write: who finds it under its new name while we have
    // it open is not refused.
    const owned_handle unnamed(::CreateFileW(path_.c_str(), DELETE | SYNCHRONIZE, shared_by_all,
                                             nullptr, OPEN_EXISTING, 0, nullptr));
    if (!unnamed.is_open()) return false;
    struct request {  // FILE_RENAME_INFO, which not every tool chain has with flags
      DWORD flags;
      HANDLE root;
      DWORD name_bytes;
      wchar_t name[1];
    };
    constexpr DWORD replaces = 1;       // FILE_RENAME_FLAG_REPLACE_IF_EXISTS
    constexpr DWORD as_posix_says = 2;  // FILE_RENAME_FLAG_POSIX_SEMANTICS
    const std::size_t name_bytes = target.size() * sizeof(wchar_t);
    const std::size_t bytes = sizeof(request) + name_bytes;
    const auto room = std::make_unique<std::byte[]>(bytes);
    std::memcpy(room.get() + offsetof(request, name), target.c_str(), name_bytes);
    auto& asked = *reinterpret_cast<request*>(room.get());  // NOLINT: the system's own way
    asked.name_bytes = static_cast<DWORD>(name_bytes);
    const auto ask = [&](int what, DWORD flags) {
      asked.flags = flags;
      return ::SetFileInformationByHandle(unnamed.get(),
                                          static_cast<FILE_INFO_BY_HANDLE_CLASS>(what), &asked,
                                          static_cast<DWORD>(bytes)) != 0;
    };
    constexpr int rename_info_ex = 22;
    constexpr int rename_info = 3;
    return ask(rename_info_ex, replaces | as_posix_says) || ask(rename_info, replaces);
  }
  /// In two, between which there may be none of that name. The old one's rights and attributes
  /// stay; where that is refused (another file system, no right to them) the name is taken all the
  /// same.
  void replace(const old_file& target) {
    const std::wstring& name = target.path();
    bool is_the_last = false;
    if (target.exists()) {
      if (::ReplaceFileW(name.c_str(), path_.c_str(), nullptr, 0, nullptr, nullptr) != 0) return;
      // Then the old one has gone, as the documentation says.
      is_the_last = ::GetLastError() == ERROR_UNABLE_TO_MOVE_REPLACEMENT;
    }
    if (::MoveFileExW(path_.c_str(), name.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) return;
    if (!is_the_last) fail("replace", name);
    const std::wstring kept = std::exchange(path_, std::wstring());
    fail("the old file has gone, and the new one is still called", kept);
  }
  /// What the file system knows of it goes to the disk, its new name, too.
  static void sync_name_of(const std::wstring& name) {
    const owned_handle named(::CreateFileW(name.c_str(), GENERIC_WRITE, shared_by_all, nullptr,
                                           OPEN_EXISTING, 0, nullptr));
    if (!named.is_open() || ::FlushFileBuffers(named.get()) == 0) fail("sync", name);
  }

  std::wstring path_;
  owned_handle handle_;
};

}  // namespace

void replace_file(const std::string& path, std::span<const std::byte> bytes,
                  const write_options& options) {
  old_file target(path);
  if ((target.attributes() & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    throw failed_step(EISDIR, "replace", to_utf8(target.path()));
  }
  new_file made(folder_of(target.path()), !target.exists() && (options.permissions & 0222U) == 0);
  made.write(bytes);
  if (options.durable) made.sync();
  made.take_name(target, options.durable);
}

}  // namespace tandem::inline v0::io::platform
