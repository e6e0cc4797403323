// wide_text.hpp: UTF-8, as tandem takes it, in UTF-16, as Windows does.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

/// @returns  false if it is no UTF-8. @throws std::bad_alloc
inline bool to_wide(std::string_view text, std::wstring& out) {
  out.clear();
  if (text.empty()) return true;
  const int bytes = static_cast<int>(text.size());
  const int size =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, nullptr, 0);
  if (size <= 0) return false;
  out.resize(static_cast<std::size_t>(size));
  return ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, out.data(),
                               size) == size;
}

/// A path that is longer than Windows takes it (MAX_PATH) becomes the same in the form that has no
/// such limit.
///
/// @throws  std::bad_alloc
inline void lift_limit(std::wstring& path) {
  // As many as a folder may have: a file of a short name finds room there.
  constexpr DWORD most = 248;
  if (path.starts_with(LR"(\\?\)") || path.starts_with(LR"(\??\)")) return;
  const DWORD room = ::GetFullPathNameW(path.c_str(), 0, nullptr, nullptr);
  if (room <= most) return;
  std::wstring whole(room, L'\0');
  const DWORD size = ::GetFullPathNameW(path.c_str(), room, whole.data(), nullptr);
  if (size == 0 || size >= room) return;  // the current folder has just become another one
  whole.resize(size);
  if (whole.starts_with(LR"(\\.\)")) return;  // a device
  path = whole.starts_with(LR"(\\)") ? LR"(\\?\UNC\)" + whole.substr(2) : LR"(\\?\)" + whole;
}

/// As to_wide(), of a path. @throws std::bad_alloc
inline bool to_wide_path(std::string_view text, std::wstring& out) {
  if (!to_wide(text, out)) return false;
  lift_limit(out);
  return true;
}

/// @throws  std::bad_alloc
inline std::string to_utf8(std::wstring_view text) {
  std::string out;
  if (text.empty()) return out;
  const int chars = static_cast<int>(text.size());
  const int size =
      ::WideCharToMultiByte(CP_UTF8, 0, text.data(), chars, nullptr, 0, nullptr, nullptr);
  out.resize(static_cast<std::size_t>(size < 0 ? 0 : size));
  (void)::WideCharToMultiByte(CP_UTF8, 0, text.data(), chars, out.data(), size, nullptr, nullptr);
  return out;
}

}  // namespace tandem::inline v0::io::platform
