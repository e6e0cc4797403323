// sigpipe_test.cpp: a send to a peer that is gone raises no signal and loses none of the program's.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "platform/unix/calls.hpp"

namespace {

namespace platform = tandem::io::platform;

/// One end whose peer is closed.
class lonely_socket {
 public:
  lonely_socket() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ::close(ends[1]);
    number = ends[0];
    platform::keep_from_signals(number);
  }
  lonely_socket(const lonely_socket&) = delete;
  lonely_socket& operator=(const lonely_socket&) = delete;
  ~lonely_socket() { ::close(number); }
  int number = -1;
};

sigset_t pipe_alone() {
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, SIGPIPE);
  return only;
}
bool is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}
bool is_blocked() {
  sigset_t now;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return ::sigismember(&now, SIGPIPE) == 1;
}

void expect_broken(int socket) {
  EXPECT_EQ(platform::send_bytes(socket, "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  EXPECT_EQ(platform::send_message(socket, message, false), -1);
  EXPECT_EQ(errno, EPIPE);
}

volatile std::sig_atomic_t handled = 0;

TEST(sigpipe, none_comes_of_a_send_whether_it_is_blocked_or_not) {
  const lonely_socket socket;
  handled = 0;
  struct sigaction counts{};
  struct sigaction before{};
  counts.sa_handler = [](int) { handled = handled + 1; };
  ::sigaction(SIGPIPE, &counts, &before);
  expect_broken(socket.number);
  EXPECT_FALSE(is_blocked());
  const sigset_t only = pipe_alone();
  ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
  expect_broken(socket.number);
  EXPECT_FALSE(is_pending());
  EXPECT_TRUE(is_blocked());
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::sigaction(SIGPIPE, &before, nullptr);
  EXPECT_EQ(handled, 0);
}

TEST(sigpipe, one_that_was_pending_before_a_send_is_pending_after_it) {
  const lonely_socket socket;
  const sigset_t only = pipe_alone();
  ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
  ::raise(SIGPIPE);
  expect_broken(socket.number);
  EXPECT_TRUE(is_pending());
  int taken = 0;
  ::sigwait(&only, &taken);
  EXPECT_EQ(taken, SIGPIPE);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace
