// processes.cpp: how a process ends on Windows, what is sent to it, and what it gets from this one.
// SPDX-License-Identifier: MIT
//
// Windows sends no signals. What has the number of one here is the end of the process, whose exit
// code says by which, or Ctrl-Break.
#include "platform/processes.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cwchar>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr int interrupt_number = SIGINT;
constexpr int terminate_number = SIGTERM;
constexpr int kill_number = 9;  // as everywhere; the C library has none

/// Exit codes of processes that were ended from here. No system's own begin so: a status has that
/// bit set where it is not Microsoft's, and the rest says "tan".
constexpr DWORD ended_by = 0xE074616E;
constexpr DWORD exit_code_of(int signal) noexcept {
  return ended_by + (static_cast<DWORD>(signal) << 16U);
}
/// As a console's own handler ends a process.
constexpr DWORD by_control_c = 0xC000013A;

process_exit exit_from(DWORD code) noexcept {
  for (const int each : {terminate_number, kill_number}) {
    if (code == exit_code_of(each)) return process_exit::by_signal(each, false);
  }
  if (code == by_control_c) return process_exit::by_signal(interrupt_number, false);
  return process_exit::by_code(static_cast<int>(code));
}

bool has_ended(HANDLE process) noexcept {
  return ::WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
}

/// What is ending already cannot be ended, which is no failure.
std::error_code end_process(HANDLE process, int number) noexcept {
  if (::TerminateProcess(process, exit_code_of(number)) != 0 || has_ended(process)) return {};
  return last_error();
}

std::error_code interrupt(const started_child& child) noexcept {
  // Ctrl-C reaches only whole consoles.
  return ::GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, static_cast<DWORD>(child.id)) != 0
             ? std::error_code()
             : last_error();
}

}  // namespace

result<std::optional<process_exit>> exit_of(const started_child& child, taking /*what*/) noexcept {
  std::optional<process_exit> how;
  const HANDLE process = handle_of(child.end);
  if (!has_ended(process)) return how;
  DWORD code = 0;
  if (::GetExitCodeProcess(process, &code) == 0) return last_error();
  how = exit_from(code);
  return how;
}

int signal_of(ending how) noexcept { return how == ending::kill ? kill_number : terminate_number; }

std::error_code send_signal(const started_child& child, int number, bool to_group) noexcept {
  const bool ends = number == terminate_number || number == kill_number;
  const bool leads = detail::is_descriptor(child.group);
  if (number == 0) return {};
  if (number == interrupt_number && leads) return interrupt(child);
  if (!ends) return std::make_error_code(std::errc::not_supported);
  if (!to_group) return end_process(handle_of(child.end), number);
  return ::TerminateJobObject(handle_of(child.group), exit_code_of(number)) != 0 ? std::error_code()
                                                                                 : last_error();
}

int own_id() noexcept { return static_cast<int>(::GetCurrentProcessId()); }
bool at_fork(void (*)(), void (*)(), void (*)()) noexcept { return true; }  // there is none

bool has_folder(std::string_view program) noexcept {
  return program.find_first_of("/\\:") != std::string_view::npos;
}

search_words words_of_search() {
  std::array<wchar_t, MAX_PATH> folder{};
  const UINT size = ::GetSystemDirectoryW(folder.data(), static_cast<UINT>(folder.size()));
  return {';', '\\', to_utf8(std::wstring_view(folder.data(), size < folder.size() ? size : 0))};
}

bool is_same_variable(std::string_view one, std::string_view other) noexcept {
  const auto upper = [](char each) {
    return each >= 'a' && each <= 'z' ? static_cast<char>(each - 'a' + 'A') : each;
  };
  return std::ranges::equal(one, other, {}, upper, upper);
}

environment_variables own_environment() {
  environment_variables made;
  wchar_t* const block = ::GetEnvironmentStringsW();
  if (block == nullptr) return made;
  try {
    for (const wchar_t* each = block; *each != L'\0'; each += std::wcslen(each) + 1) {
      made.kept.push_back(to_utf8(each));
    }
  } catch (...) {
    ::FreeEnvironmentStringsW(block);
    throw;
  }
  ::FreeEnvironmentStringsW(block);
  for (const std::string& each : made.kept) made.all.push_back(each.c_str());
  return made;
}

result<native_descriptor> open_for_child(const process_stdio& what) noexcept {
  using kind = process_stdio::kind;
  try {
    std::wstring path;
    if (what.what() == kind::null) {
      path = L"NUL";
    } else if (!to_wide_path(what.path(), path)) {
      return std::make_error_code(std::errc::invalid_argument);
    }
    DWORD access = GENERIC_READ;
    DWORD how = OPEN_EXISTING;
    switch (what.what()) {
      case kind::null: access |= GENERIC_WRITE; break;
      case kind::write:
        access = GENERIC_WRITE;
        how = CREATE_ALWAYS;
        break;
      case kind::append:  // without the right to write elsewhere every write goes to the end
        access = FILE_GENERIC_WRITE & ~DWORD{FILE_WRITE_DATA};
        how = OPEN_ALWAYS;
        break;
      default: break;
    }
    const HANDLE opened =
        ::CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                      nullptr, how, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (opened == INVALID_HANDLE_VALUE) return last_error();
    return descriptor_of(opened);
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

native_descriptor standard_stream(int number) noexcept {
  constexpr std::array which{STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
  const HANDLE own = ::GetStdHandle(which.at(static_cast<std::size_t>(number)));
  const native_descriptor found = descriptor_of(own);
  DWORD flags = 0;
  const bool is_open = detail::is_descriptor(found) && ::GetHandleInformation(own, &flags) != 0;
  return is_open ? found : no_descriptor;
}

void wait_for_any(std::span<const native_descriptor> ends,
                  std::chrono::milliseconds limit) noexcept {
  // More than these are looked at in turn: each time the first that fit, and soon the next.
  std::array<HANDLE, MAXIMUM_WAIT_OBJECTS> asked;
  const std::size_t count = std::min(ends.size(), asked.size());
  for (std::size_t i = 0; i < count; ++i) asked[i] = handle_of(ends[i]);
  constexpr std::chrono::milliseconds soon{100};
  constexpr std::chrono::milliseconds an_hour{3'600'000};
  if (count < ends.size() && (limit.count() < 0 || limit > soon)) limit = soon;
  const DWORD until =
      limit.count() < 0 ? INFINITE : static_cast<DWORD>(std::min(limit, an_hour).count());
  (void)::WaitForMultipleObjects(static_cast<DWORD>(count), asked.data(), FALSE, until);
}

result<wake_pair> make_wake() noexcept {
  const HANDLE event = ::CreateEventW(nullptr, TRUE, FALSE, nullptr);
  if (event == nullptr) return last_error();
  wake_pair made;
  made.seen = made.set = descriptor_of(event);
  return made;
}
void set_wake(const wake_pair& wake) noexcept { (void)::SetEvent(handle_of(wake.set)); }
void clear_wake(const wake_pair& wake) noexcept { (void)::ResetEvent(handle_of(wake.seen)); }

}  // namespace tandem::inline v0::io::platform
