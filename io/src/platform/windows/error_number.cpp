// error_number.cpp: codes of Windows, their texts, and which of std::errc they are.
// SPDX-License-Identifier: MIT
#include <array>
#include <cerrno>
#include <string>
#include <tandem/io/detail/system_code.hpp>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

struct meaning {
  int code;
  int number;  // of errno
};

/// Beside those that std::system_category() knows, which differ from library to library. Of several
/// with one number the last one stands for it: system_code().
constexpr std::array meanings = {
    meaning{ERROR_FILE_NOT_FOUND, ENOENT},
    meaning{ERROR_PATH_NOT_FOUND, ENOENT},
    meaning{ERROR_INVALID_NAME, ENOENT},
    meaning{ERROR_BAD_PATHNAME, ENOENT},
    meaning{ERROR_BAD_NETPATH, ENOENT},
    meaning{ERROR_INVALID_DRIVE, ENOENT},
    meaning{ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    meaning{ERROR_BAD_EXE_FORMAT, ENOEXEC},
    meaning{ERROR_ACCESS_DENIED, EACCES},
    meaning{ERROR_SHARING_VIOLATION, EBUSY},
    meaning{ERROR_LOCK_VIOLATION, EBUSY},
    meaning{ERROR_INVALID_HANDLE, EBADF},
    meaning{ERROR_COMMITMENT_LIMIT, ENOMEM},
    meaning{ERROR_NO_SYSTEM_RESOURCES, ENOMEM},
    meaning{ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    meaning{ERROR_OUTOFMEMORY, ENOMEM},
    meaning{ERROR_WRITE_PROTECT, EROFS},
    meaning{ERROR_FILE_EXISTS, EEXIST},
    meaning{ERROR_ALREADY_EXISTS, EEXIST},
    meaning{ERROR_INVALID_PARAMETER, EINVAL},
    meaning{ERROR_NEGATIVE_SEEK, EINVAL},
    meaning{ERROR_HANDLE_DISK_FULL, ENOSPC},
    meaning{ERROR_DISK_FULL, ENOSPC},
    meaning{WSAESHUTDOWN, EPIPE},
    meaning{ERROR_NO_DATA, EPIPE},
    meaning{ERROR_BROKEN_PIPE, EPIPE},
    meaning{ERROR_DIRECTORY, ENOTDIR},
    meaning{ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    meaning{ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    meaning{ERROR_NOT_SAME_DEVICE, EXDEV},
    meaning{ERROR_NOT_SUPPORTED, ENOTSUP},
    meaning{ERROR_INVALID_FUNCTION, ENOTSUP},
    meaning{ERROR_OPERATION_ABORTED, ECANCELED},
    meaning{ERROR_CONNECTION_REFUSED, ECONNREFUSED},
    meaning{ERROR_NETNAME_DELETED, ECONNRESET},
    meaning{WSAEACCES, EACCES},
    meaning{WSAEADDRINUSE, EADDRINUSE},
    meaning{WSAEADDRNOTAVAIL, EADDRNOTAVAIL},
    meaning{WSAEAFNOSUPPORT, EAFNOSUPPORT},
    meaning{WSAEALREADY, EALREADY},
    meaning{WSAEBADF, EBADF},
    meaning{WSAECONNABORTED, ECONNABORTED},
    meaning{WSAECONNREFUSED, ECONNREFUSED},
    meaning{WSAECONNRESET, ECONNRESET},
    meaning{WSAEDESTADDRREQ, EDESTADDRREQ},
    meaning{WSAEFAULT, EFAULT},
    meaning{WSAEHOSTUNREACH, EHOSTUNREACH},
    meaning{WSAEINPROGRESS, EINPROGRESS},
    meaning{WSAEINTR, EINTR},
    meaning{WSAEINVAL, EINVAL},
    meaning{WSAEISCONN, EISCONN},
    meaning{WSAEMFILE, EMFILE},
    meaning{WSAEMSGSIZE, EMSGSIZE},
    meaning{WSAENETDOWN, ENETDOWN},
    meaning{WSAENETRESET, ENETRESET},
    meaning{WSAENETUNREACH, ENETUNREACH},
    meaning{WSAENOBUFS, ENOBUFS},
    meaning{WSAENOPROTOOPT, ENOPROTOOPT},
    meaning{WSAENOTCONN, ENOTCONN},
    meaning{WSAENOTSOCK, ENOTSOCK},
    meaning{WSAEOPNOTSUPP, EOPNOTSUPP},
    meaning{WSAEPROTONOSUPPORT, EPROTONOSUPPORT},
    meaning{WSAEPROTOTYPE, EPROTOTYPE},
    meaning{WSAETIMEDOUT, ETIMEDOUT},
    meaning{WSAEWOULDBLOCK, EWOULDBLOCK},
    meaning{WSA_E_CANCELLED, ECANCELED},
};

/// Zero: errno has no name for it.
int meaning_of(int code) noexcept {
  for (const meaning& each : meanings) {
    if (each.code == code) return each.number;
  }
  return 0;
}

/// Codes of Windows that compare to std::errc, whatever the standard library makes of them.
class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "windows"; }
  std::string message(int code) const override {
    std::array<wchar_t, 512> wide{};
    constexpr DWORD how = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD size = ::FormatMessageW(how, nullptr, static_cast<DWORD>(code), 0, wide.data(),
                                  static_cast<DWORD>(wide.size()), nullptr);
    while (size != 0 && (wide[size - 1] <= L' ' || wide[size - 1] == L'.')) --size;
    std::array<char, 2048> text{};
    const int bytes = size == 0 ? 0
                                : ::WideCharToMultiByte(
                                      CP_UTF8, 0, wide.data(), static_cast<int>(size), text.data(),
                                      static_cast<int>(text.size()), nullptr, nullptr);
    std::string told(text.data(), static_cast<std::size_t>(bytes));
    const std::string number = "Windows error " + std::to_string(code);
    return told.empty() ? number : told + " (" + number + ")";
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    const int number = meaning_of(code);
    if (number != 0) return {number, std::generic_category()};
    return std::system_category().default_error_condition(code);
  }
};

const std::error_category& windows_category() noexcept {
  static const category only;
  return only;
}

}  // namespace

std::error_code error_of(int number) noexcept {
  if (number >= windows_numbers) return {number - windows_numbers, windows_category()};
  return {number, std::generic_category()};
}

int number_of(DWORD code) noexcept {
  // What operations ask for by its errno.
  switch (code) {
    case ERROR_OPERATION_ABORTED: return ECANCELED;
    case WSAECONNABORTED: return ECONNABORTED;
    case WSAEINTR: return EINTR;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    default: return windows_numbers + static_cast<int>(code);
  }
}

int start_sockets() noexcept {
  static const int failure = [] {
    WSADATA about{};
    const int answer = ::WSAStartup(MAKEWORD(2, 2), &about);
    return answer == 0 ? 0 : number_of(static_cast<DWORD>(answer));
  }();
  return failure;
}

}  // namespace tandem::inline v0::io::platform

namespace tandem::inline v0::io::detail {

std::error_code system_code(const std::error_code& code) noexcept {
  if (code.category() == platform::windows_category()) {
    return {code.value(), std::system_category()};
  }
  if (code.category() != std::generic_category()) return code;
  for (auto each = platform::meanings.rbegin(); each != platform::meanings.rend(); ++each) {
    if (each->number == code.value()) return {each->code, std::system_category()};
  }
  return code;
}

}  // namespace tandem::inline v0::io::detail
