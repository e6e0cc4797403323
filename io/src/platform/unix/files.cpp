// files.cpp: how files are opened and adopted.
// SPDX-License-Identifier: MIT
#include "platform/files.hpp"

#include <fcntl.h>

#include <cerrno>

namespace tandem::inline v0::io::platform {

namespace {

/// Where there is no such flag it is asked for afterwards, or is a hint that nobody hears.
#if defined(O_DIRECT)
constexpr int direct_flag = O_DIRECT;
#else
constexpr int direct_flag = 0;
#endif

}  // namespace

int open_flags(const open_options& options) noexcept {
  // O_NOCTTY: a terminal that is opened is not to become the process's own. O_NONBLOCK: rings do
  // not wait for the other end of a pipe anyway, if they find it at once; so nobody does.
  int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  switch (options.mode) {
    case open_mode::read: flags |= O_RDONLY; break;
    case open_mode::write: flags |= O_WRONLY; break;
    case open_mode::read_write: flags |= O_RDWR; break;
  }
  if (options.create) flags |= O_CREAT;
  if (options.create && options.exclusive) flags |= O_EXCL;
  if (options.truncate) flags |= O_TRUNC;
  if (options.append) flags |= O_APPEND;
  if (options.direct) flags |= direct_flag;
#if defined(O_TMPFILE)
  if (options.unnamed) flags |= O_TMPFILE;
#endif
  return flags;
}

void settle_opened(native_descriptor file, const open_options& options) noexcept {
  constexpr int settable = O_APPEND | direct_flag;
  (void)::fcntl(file, F_SETFL, open_flags(options) & settable);
#if !defined(O_DIRECT) && defined(F_NOCACHE)
  if (options.direct) (void)::fcntl(file, F_NOCACHE, 1);
#endif
}

std::error_code adopt_file(native_descriptor file, bool& is_direct) noexcept {
  const int flags = ::fcntl(file, F_GETFD);
  const int status = ::fcntl(file, F_GETFL);
  if (flags < 0 || status < 0 || ::fcntl(file, F_SETFL, status & ~O_NONBLOCK) != 0 ||
      ::fcntl(file, F_SETFD, flags | FD_CLOEXEC) != 0) {
    return {errno, std::generic_category()};
  }
  is_direct = (status & direct_flag) != 0;
  return {};
}

int advice_flag([[maybe_unused]] file_access how) noexcept {
#if defined(POSIX_FADV_NORMAL)
  switch (how) {
    case file_access::sequential: return POSIX_FADV_SEQUENTIAL;
    case file_access::random: return POSIX_FADV_RANDOM;
    case file_access::once: return POSIX_FADV_NOREUSE;
    case file_access::soon: return POSIX_FADV_WILLNEED;
    case file_access::no_more: return POSIX_FADV_DONTNEED;
    case file_access::normal: break;
  }
  return POSIX_FADV_NORMAL;
#else
  return 0;
#endif
}

// No system here has a port of files.
file_way way_of(detail::file_request& /*request*/, std::atomic<std::uint64_t>& /*joined*/,
                const file_port& /*port*/) noexcept {
  return file_way::blocking;
}
void leave_port(native_descriptor /*file*/) noexcept {}
std::string_view cure_of(const std::error_code& /*failure*/) noexcept { return {}; }

}  // namespace tandem::inline v0::io::platform
