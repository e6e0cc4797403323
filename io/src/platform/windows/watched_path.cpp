// watched_path.cpp: calls that wait for changes, and what they have found.
// SPDX-License-Identifier: MIT
#include "platform/windows/watched_path.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// As file systems of Windows compare them.
bool are_same(std::wstring_view a, std::wstring_view b) noexcept {
  return ::CompareStringOrdinal(a.data(), static_cast<int>(a.size()), b.data(),
                                static_cast<int>(b.size()), TRUE) == CSTR_EQUAL;
}

}  // namespace

DWORD watch_call::begin() noexcept {
  *static_cast<OVERLAPPED*>(this) = OVERLAPPED();
  const BOOL begun =
      ::ReadDirectoryChangesW(directory.get(), changes.data(), static_cast<DWORD>(most_bytes),
                              FALSE, filter_, nullptr, this, nullptr);
  return begun != 0 ? 0 : ::GetLastError();
}

void watched_path::begun(watch_call& call) noexcept {
  calls_[call.is_of_attributes ? 1 : 0] = &call;
}

void watched_path::forget(const watch_call& call) noexcept {
  calls_[call.is_of_attributes ? 1 : 0] = nullptr;
}

void watched_path::cancel(const watch_call* except) noexcept {
  for (watch_call* const each : calls_) {
    if (each != nullptr && each != except) each->cancel();
  }
}

void watched_path::stop() noexcept {
  phase_ = phase::over;
  cancel(nullptr);
}

void watched_path::replace() noexcept {
  phase_ = phase::replaced;
  cancel(nullptr);
}

void watched_path::end() noexcept {
  if (phase_ != phase::live) return;
  file_change last;
  last.watch = number;
  last.kind = change_kind::ended;
  queue_->push(std::move(last));
  stop();
}

bool watched_path::told(watch_call& call) noexcept {
  constexpr auto cancelled = static_cast<NTSTATUS>(0xC0000120);
  const std::lock_guard guard(queue_->lock);
  const auto status = static_cast<NTSTATUS>(call.Internal);
  if (status < 0) {
    // One that nobody has cancelled belonged to a thread that has ended.
    if (status != cancelled) end();
  } else if (phase_ != phase::over) {
    note_all(call, call.InternalHigh);
  }
  if (phase_ == phase::live) {
    if (call.begin() == 0) return true;
    forget(call);
    end();
  }
  forget(call);
  return false;
}

void watched_path::note_all(const watch_call& call, std::size_t bytes) noexcept {
  if (bytes == 0) return queue_->lose();  // there were more than there was room for
  constexpr std::size_t head_bytes = offsetof(FILE_NOTIFY_INFORMATION, FileName);
  std::size_t at = 0;
  try {
    while (at + head_bytes <= bytes) {
      FILE_NOTIFY_INFORMATION head{};
      std::memcpy(&head, call.changes.data() + at, head_bytes);
      const auto* const name =
          reinterpret_cast<const wchar_t*>(call.changes.data() + at + head_bytes);  // NOLINT
      note(call, head.Action, {name, head.FileNameLength / sizeof(wchar_t)});
      if (head.NextEntryOffset == 0) return;
      at += head.NextEntryOffset;
    }
  } catch (const std::bad_alloc&) {
    queue_->lose();
  }
}

void watched_path::note(const watch_call& call, DWORD action, std::wstring_view name) {
  if (!only_.empty()) return note_of_file(call, action, name);
  if (action == FILE_ACTION_MODIFIED) {
    const bool is_of_attributes = call.is_of_attributes;
    if (is_of_attributes || has(what_, watch_for::contents)) {
      push(is_of_attributes ? change_kind::attributes : change_kind::contents, name, 0);
    }
    return;
  }
  if (call.is_of_attributes || !has(what_, watch_for::names)) return;
  switch (action) {
    case FILE_ACTION_ADDED: return push(change_kind::created, name, 0);
    case FILE_ACTION_REMOVED: return push(change_kind::removed, name, 0);
    case FILE_ACTION_RENAMED_OLD_NAME: return push(change_kind::moved_from, name, ++renames_);
    case FILE_ACTION_RENAMED_NEW_NAME: return push(change_kind::moved_to, name, renames_);
    default: return;
  }
}

void watched_path::note_of_file(const watch_call& call, DWORD action, std::wstring_view name) {
  if (!call.is_of_attributes && action == FILE_ACTION_RENAMED_NEW_NAME && moves_) {
    moves_ = false;
    only_ = name;
    return push(change_kind::moved_itself, {}, 0);
  }
  if (!are_same(name, only_)) return;
  if (action == FILE_ACTION_MODIFIED) {
    if (call.is_of_attributes) return push(change_kind::attributes, {}, 0);
    if (has(what_, watch_for::contents)) push(change_kind::contents, {}, 0);
    return;
  }
  if (call.is_of_attributes) return;
  if (action == FILE_ACTION_RENAMED_OLD_NAME) {
    moves_ = true;
  } else if (action == FILE_ACTION_REMOVED || action == FILE_ACTION_RENAMED_NEW_NAME) {
    end();  // it has gone, elsewhere maybe, or another one has its name
  }
}

void watched_path::push(change_kind kind, std::wstring_view name, std::uint32_t cookie) {
  if (phase_ == phase::over) return;
  file_change change;
  change.watch = number;
  change.kind = kind;
  change.cookie = cookie;
  change.name = to_utf8(name);
  queue_->push(std::move(change));
}

}  // namespace tandem::inline v0::io::platform
