// linux_sockets_test.cpp: paths that are exchanged between two calls, and descriptors that nobody has asked for.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_listener.hpp>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"
#include "refusal_text.hpp"

namespace {

using tandem::task;
using tandem::io::owned_descriptor;
using tandem::io::unix_endpoint;
using tandem::io::unix_listener;
using tandem::io::unix_seqpacket;
using tandem::test::on_every_home;

/// What somebody makes a link to, at each path that is bound.
std::atomic<const char*> target_of_link{nullptr};
std::atomic<bool> refuses_permissions{false};
/// Whoever has the path has left when somebody looks.
std::atomic<bool> vanishes_when_looked_at{false};

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}
bool is_there(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

/// @returns  why it was refused
std::error_code bind_with_permissions(const std::string& path, std::uint32_t permissions) {
  tandem::io::unix_listen_options options;
  options.permissions = permissions;
  const mode_t before = ::umask(022);  // so that they are not there by themselves
  std::error_code refusal;
  try {
    (void)unix_listener::bind(unix_endpoint::path(path), options);
  } catch (const std::system_error& failure) {
    refusal = failure.code();
  }
  ::umask(before);
  return refusal;
}

TEST(unix_paths, permissions_follow_no_link_that_somebody_has_put_there) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string precious = folder / "precious";
    const owned_descriptor made(::open(precious.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    EXPECT_EQ(mode_of(precious), 0600U);
    target_of_link = precious.c_str();
    const std::error_code refusal = bind_with_permissions(folder / "socket", 0666);
    target_of_link = nullptr;
    EXPECT_TRUE(refusal);
    EXPECT_EQ(mode_of(precious), 0600U);
    co_return;
  });
}

TEST(unix_paths, a_socket_that_cannot_have_its_permissions_is_not_left_there) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "socket";
    refuses_permissions = true;
    const std::error_code refusal = bind_with_permissions(path, 0666);
    refuses_permissions = false;
    EXPECT_EQ(refusal, std::errc::operation_not_permitted);
    EXPECT_FALSE(is_there(path));
    EXPECT_FALSE(bind_with_permissions(path, 0666));
    co_return;
  });
}

TEST(unix_paths, nothing_is_said_to_be_in_use_that_is_gone_when_it_is_looked_at) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto name = unix_endpoint::path(folder / "socket");
    const unix_listener first = unix_listener::bind(name);
    tandem::io::unix_listen_options keeps;
    keeps.replaces_stale = false;
    vanishes_when_looked_at = true;
    const std::string text = tandem::test::refusal_of<std::system_error>(
        [&] { (void)unix_listener::bind(name, keeps); });
    vanishes_when_looked_at = false;
    EXPECT_TRUE(tandem::test::has(text, "what was there is gone by now")) << text;
    co_return;
  });
}

TEST(unix_descriptors, those_of_processes_that_nobody_has_asked_for_are_closed) {
  constexpr int pass_process_descriptor = 76;  // SO_PASSPIDFD, of Linux 6.5
  const auto asks_for_them = [](const owned_descriptor& socket) {
    const int on = 1;
    return ::setsockopt(socket.native_handle(), SOL_SOCKET, pass_process_descriptor, &on,
                        sizeof on) == 0;
  };
  if (!asks_for_them(owned_descriptor(::socket(AF_UNIX, SOCK_SEQPACKET, 0)))) {
    GTEST_SKIP() << "this kernel sends no descriptors of processes";
  }
  on_every_home([asks_for_them]() -> task<void> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    const owned_descriptor sender(ends[0]);
    owned_descriptor receiver(ends[1]);
    EXPECT_TRUE(asks_for_them(receiver));
    unix_seqpacket socket = unix_seqpacket::from_native(std::move(receiver));
    std::array<std::byte, 4> room;
    const auto one_message = [&]() -> task<void> {
      EXPECT_EQ(::send(sender.native_handle(), "x", 1, 0), 1);
      const auto got = co_await socket.receive(room);
      EXPECT_TRUE(got.descriptors.empty());
      EXPECT_EQ(got.surplus, 0U);
    };
    co_await one_message();
    const std::size_t before = tandem::test::open_descriptors();
    for (int i = 0; i < 20; ++i) co_await one_message();
    EXPECT_EQ(tandem::test::open_descriptors(), before);
  });
}

}  // namespace

// They take the places of the library's.

extern "C" int bind(int socket, const sockaddr* address, socklen_t size) noexcept {
  const auto answer = static_cast<int>(::syscall(SYS_bind, socket, address, size));
  const char* const target = target_of_link;
  if (answer == 0 && target != nullptr && address->sa_family == AF_UNIX) {
    const char* const path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;  // NOLINT
    EXPECT_EQ(::unlink(path), 0);
    EXPECT_EQ(::symlink(target, path), 0);
  }
  return answer;
}

extern "C" int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  if (refuses_permissions) {
    errno = EPERM;
    return -1;
  }
  using call = int (*)(int, const char*, mode_t, int);
  static const auto of_library = reinterpret_cast<call>(::dlsym(RTLD_NEXT, "fchmodat"));  // NOLINT
  return of_library(folder, path, mode, flags);
}

extern "C" int lstat(const char* path, struct stat* status) noexcept {
  if (vanishes_when_looked_at) {
    EXPECT_EQ(::unlink(path), 0);
  }
  return ::fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
