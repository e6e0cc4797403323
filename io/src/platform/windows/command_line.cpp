// command_line.cpp: quoting by the rules of CommandLineToArgvW(), and the order of an environment.
// SPDX-License-Identifier: MIT
#include "platform/windows/command_line.hpp"

#include <algorithm>
#include <vector>

#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr wchar_t quote = L'"';
constexpr wchar_t backslash = L'\\';

/// A backslash is itself, unless a quotation mark follows a row of them: then two are one, and one
/// more makes that mark a part of the text. So it is before the mark that ends the argument.
void append_quoted(const std::wstring& argument, std::wstring& out) {
  if (!argument.empty() && argument.find_first_of(L" \t\n\v\"") == std::wstring::npos) {
    out += argument;
    return;
  }
  out += quote;
  std::size_t row = 0;
  for (const wchar_t each : argument) {
    if (each == quote) out.append(row + 1, backslash);
    row = each == backslash ? row + 1 : 0;
    out += each;
  }
  out.append(row, backslash);
  out += quote;
}

std::wstring_view name_of(std::wstring_view variable) noexcept {
  // The first character may be a "=": the folders of drives have such names.
  return variable.substr(0, variable.find(L'=', 1));
}

bool is_before(const std::wstring& one, const std::wstring& other) noexcept {
  const std::wstring_view left = name_of(one);
  const std::wstring_view right = name_of(other);
  return ::CompareStringOrdinal(left.data(), static_cast<int>(left.size()), right.data(),
                                static_cast<int>(right.size()), TRUE) == CSTR_LESS_THAN;
}

bool ends_with(std::wstring_view path, std::wstring_view end) noexcept {
  if (path.size() < end.size()) return false;
  const std::wstring_view last = path.substr(path.size() - end.size());
  const auto size = static_cast<int>(end.size());
  return ::CompareStringOrdinal(last.data(), size, end.data(), size, TRUE) == CSTR_EQUAL;
}

}  // namespace

bool to_command_line(const char* const* arguments, std::wstring& out) {
  out.clear();
  std::wstring wide;
  if (!to_wide(arguments[0], wide) || wide.find(quote) != std::wstring::npos) return false;
  // Of the first one backslashes are always themselves.
  (out += quote) += wide;
  out += quote;
  for (const char* const* each = arguments + 1; *each != nullptr; ++each) {
    if (!to_wide(*each, wide)) return false;
    out += L' ';
    append_quoted(wide, out);
  }
  return true;
}

bool to_environment_block(const char* const* variables, std::wstring& out) {
  out.clear();
  std::vector<std::wstring> sorted;
  for (const char* const* each = variables; *each != nullptr; ++each) {
    sorted.emplace_back();
    if (!to_wide(*each, sorted.back())) return false;
  }
  std::ranges::stable_sort(sorted, is_before);
  for (const std::wstring& each : sorted) (out += each) += L'\0';
  if (sorted.empty()) out += L'\0';
  out += L'\0';
  return true;
}

bool is_batch_file(std::wstring_view path) noexcept {
  // The system takes no notice of dots and blanks at the end of a name.
  while (path.ends_with(L'.') || path.ends_with(L' ')) path.remove_suffix(1);
  return ends_with(path, L".bat") || ends_with(path, L".cmd");
}

}  // namespace tandem::inline v0::io::platform
