// watches.cpp: ReadDirectoryChangesW().
// SPDX-License-Identifier: MIT
#include "platform/watches.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "platform/descriptor.hpp"
#include "platform/files.hpp"
#include "platform/windows/change_queue.hpp"
#include "platform/windows/owned_handle.hpp"
#include "platform/windows/socket_pair.hpp"
#include "platform/windows/watch_calls.hpp"
#include "platform/windows/watched_path.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr DWORD of_names = FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_DIR_NAME;
constexpr DWORD of_contents = FILE_NOTIFY_CHANGE_SIZE | FILE_NOTIFY_CHANGE_LAST_WRITE;
constexpr DWORD of_attributes =
    FILE_NOTIFY_CHANGE_ATTRIBUTES | FILE_NOTIFY_CHANGE_SECURITY | FILE_NOTIFY_CHANGE_CREATION;

owned_handle open(const std::wstring& path, DWORD access, DWORD flags) noexcept {
  return owned_handle(::CreateFileW(path.c_str(), access,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr));
}

/// Where what a path leads to can be watched.
class watched_place {
 public:
  std::wstring directory;
  std::wstring only;  // the file's name there; empty: the directory itself
  file_identity what_it_is;
};

/// @returns  0 or a code of Windows. @throws std::bad_alloc
DWORD find(const std::wstring& path, bool follows_link, watched_place& out) {
  const owned_handle found =
      open(path, FILE_READ_ATTRIBUTES, follows_link ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
  if (!found.is_open()) return ::GetLastError();
  BY_HANDLE_FILE_INFORMATION about{};
  if (::GetFileInformationByHandle(found.get(), &about) == 0) return ::GetLastError();
  out.what_it_is.volume = about.dwVolumeSerialNumber;
  out.what_it_is.number = (std::uint64_t{about.nFileIndexHigh} << 32U) | about.nFileIndexLow;
  // The link itself is a name in its directory, like a file.
  const bool is_link =
      !follows_link && (about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  if ((about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 && !is_link) {
    out.directory = path;
    return 0;
  }
  const DWORD room = ::GetFinalPathNameByHandleW(found.get(), nullptr, 0, 0);
  if (room == 0) return ::GetLastError();
  std::wstring whole(room, L'\0');
  const DWORD size = ::GetFinalPathNameByHandleW(found.get(), whole.data(), room, 0);
  if (size == 0) return ::GetLastError();
  if (size >= room) return ERROR_FILE_NOT_FOUND;  // it has just moved
  whole.resize(size);
  const std::size_t name = whole.rfind(L'\\') + 1;
  out.directory = whole.substr(0, name);
  out.only = whole.substr(name);
  return 0;
}

class change_watches final : public watch_set {
 public:
  change_watches(watch_calls& calls, native_descriptor tells)
      : calls_(calls), queue_(std::make_shared<change_queue>(tells)) {}
  ~change_watches() override {
    const std::lock_guard guard(queue_->lock);
    for (const auto& each : all_) each->stop();
    queue_->close();
  }

  result<int> add(const char* path, watch_for what, bool follows_link) noexcept override {
    if (has(what, watch_for::writers) && what != watch_for::everything) {
      return std::make_error_code(std::errc::not_supported);
    }
    try {
      std::wstring wide;
      if (!to_wide_path(path, wide)) return error_of(number_of(ERROR_INVALID_NAME));
      watched_place place;
      if (const DWORD code = find(wide, follows_link, place); code != 0) {
        return error_of(number_of(code));
      }
      const auto made = std::make_shared<watched_path>(queue_, place.what_it_is, what, place.only);
      return begin(made, place, what);
    } catch (const std::bad_alloc&) {
      return error_of(ENOMEM);
    }
  }

  void remove(int watch) noexcept override {
    const std::lock_guard guard(queue_->lock);
    for (const auto& each : all_) {
      if (each->number == watch) each->end();
    }
  }

  std::size_t next_change(std::span<const std::byte> read, file_change& out) override {
    return queue_->take(out) ? 0 : read.size();
  }

 private:
  using call_list = std::array<std::unique_ptr<watch_call>, 2>;

  static DWORD prepare(std::unique_ptr<watch_call>& out, const watched_place& place, DWORD filter,
                       bool is_of_attributes, const std::shared_ptr<watched_path>& of) {
    owned_handle opened = open(place.directory, FILE_LIST_DIRECTORY, FILE_FLAG_OVERLAPPED);
    if (!opened.is_open()) return ::GetLastError();
    out = std::make_unique<watch_call>(std::move(opened), filter, is_of_attributes, of);
    return 0;
  }

  result<int> begin(const std::shared_ptr<watched_path>& made, const watched_place& place,
                    watch_for what) {
    DWORD filter = 0;
    if (has(what, watch_for::names) || !place.only.empty()) filter |= of_names;
    if (has(what, watch_for::contents)) filter |= of_contents;
    call_list calls;
    DWORD code = 0;
    if (filter != 0) code = prepare(calls[0], place, filter, false, made);
    if (code == 0 && has(what, watch_for::attributes)) {
      code = prepare(calls[1], place, of_attributes, true, made);
    }
    if (code != 0) return error_of(number_of(code));
    const std::lock_guard guard(queue_->lock);
    std::erase_if(all_, [](const auto& each) { return !each->is_live(); });
    const auto same = std::ranges::find_if(
        all_, [&](const auto& each) { return each->what_it_is == made->what_it_is; });
    const bool is_new = same == all_.end();
    made->number = is_new ? next_ : (*same)->number;
    if (is_new) all_.reserve(all_.size() + 1);
    if (code = begin_calls(*made, calls); code != 0) return error_of(number_of(code));
    if (is_new) {
      ++next_;
      all_.push_back(made);
    } else {
      // After the new one has begun: what happens in between is told twice rather than never.
      (*same)->replace();
      *same = made;
    }
    return made->number;
  }

  /// All of them or none. @throws std::bad_alloc
  DWORD begin_calls(watched_path& made, call_list& calls) {
    try {
      for (auto& each : calls) {
        const DWORD code = each != nullptr ? calls_.begin(std::move(each)) : 0;
        if (code == 0) continue;
        made.stop();
        return code;
      }
    } catch (...) {
      made.stop();
      throw;
    }
    return 0;
  }

  watch_calls& calls_;
  const std::shared_ptr<change_queue> queue_;
  std::vector<std::shared_ptr<watched_path>> all_;  // guarded by the queue's lock, as is next_
  int next_ = 1;
};

}  // namespace

result<opened_watches> open_watches(const file_port* port) noexcept {
  if (port == nullptr) return std::make_error_code(std::errc::not_supported);
  result<socket_pair> pair = make_socket_pair();
  if (pair.error()) return pair.error();
  opened_watches opened;
  opened.reads = pair.value().reads;
  try {
    opened.set = std::make_unique<change_watches>(*port->watches, pair.value().writes);
    return opened;
  } catch (const std::bad_alloc&) {
    close(pair.value().reads);
    close(pair.value().writes);
    return error_of(ENOMEM);
  }
}

}  // namespace tandem::inline v0::io::platform
