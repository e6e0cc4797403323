// command_line.hpp: a child's arguments, environment and program, as Windows takes them.
// SPDX-License-Identifier: MIT
//
// A program of Windows gets one text and takes its arguments out of it itself: nearly all by the
// rules of CommandLineToArgvW() and of the C library, which are those here. (cmd.exe has others, so
// what is passed to that is its caller's affair.)
#pragma once

#include <string>
#include <string_view>

namespace tandem::inline v0::io::platform {

/// @param arguments  ends with null; UTF-8
/// @returns  false if there is no such text: it is no UTF-8, or the program's name has a quotation
///           mark, which no rule escapes
/// @throws   std::bad_alloc
bool to_command_line(const char* const* arguments, std::wstring& out);

/// The block of an environment: in the order that the system asks for, each with its zero, and one
/// more.
///
/// @param variables  as "NAME=value"; ends with null; UTF-8
/// @returns  false if it is no UTF-8. @throws std::bad_alloc
bool to_environment_block(const char* const* variables, std::wstring& out);

/// A script of cmd.exe, which takes its arguments by rules of its own: none quotes them safely.
bool is_batch_file(std::wstring_view path) noexcept;

}  // namespace tandem::inline v0::io::platform
