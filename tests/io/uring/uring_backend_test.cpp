// uring_backend_test.cpp: the io_uring backend alone, on this thread, against its contract (backend.hpp).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>

#include "backend/backend.hpp"
#include "io_uring_filter.hpp"

namespace {

using tandem::io::backend;
using tandem::io::submit_answer;
using tandem::io::detail::operation;
using tandem::io::detail::operation_kind;
using clock = std::chrono::steady_clock;

constexpr auto at_once = clock::time_point::min();
constexpr auto for_good = clock::time_point::max();

class uring_backend : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tandem::test::does_without_io_uring()) GTEST_SKIP() << "io_uring is refused here";
    tandem::io::completion_options options;
    options.ring_entries = 1;  // so there is room for 16 completions
    backend_ = tandem::io::make_uring_backend(options);
  }
  void TearDown() override { ::close(ready_); }

  /// Asks for what is there already, so that it completes at once.
  void submit_ready(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      operation& one = operations_.emplace_back(operation_kind::wait_readable, nullptr, 0);
      one.aim(nullptr, ready_);
      EXPECT_EQ(backend_->submit(one), submit_answer::pending);
    }
  }
  unsigned reap() {
    return backend_->reap([](void*, operation&) noexcept {}, nullptr);
  }

  std::unique_ptr<backend> backend_;

 private:
  int ready_ = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  std::deque<operation> operations_;  // each stays where it is
};

TEST_F(uring_backend, a_wake_ends_the_wait_that_comes_next_and_each_one_after_it) {
  for (int round = 0; round < 3; ++round) {
    backend_->wake();
    backend_->wait(for_good);
    EXPECT_EQ(reap(), 0U);
  }
}

// A multishot poll whose completion finds no room ends; nobody else would notice that.
TEST_F(uring_backend, a_wake_that_found_no_room_for_its_completion_is_not_the_last_one_heard) {
  backend_->wait(at_once);  // the wake's poll is with the kernel
  constexpr unsigned more_than_fit = 40;
  for (int round = 0; round < 3; ++round) {
    submit_ready(more_than_fit);
    backend_->wake();
    unsigned ended = 0;
    while (ended < more_than_fit) {
      backend_->wait(at_once);
      ended += reap();
    }
    EXPECT_EQ(ended, more_than_fit);
    backend_->wait(at_once);
    EXPECT_EQ(reap(), 0U);
    backend_->wake();
    backend_->wait(for_good);  // for ever, if it is not heard
    EXPECT_EQ(reap(), 0U);
  }
}

/// Whether the kernel knows of waits that are none for a disk: IORING_FEAT_NO_IOWAIT, Linux 6.15.
bool knows_no_iowait() {
  alignas(8) unsigned char parameters[120] = {};  // a struct io_uring_params
  const long ring = ::syscall(SYS_io_uring_setup, 1, parameters);
  if (ring < 0) return false;
  ::close(static_cast<int>(ring));
  unsigned features = 0;
  std::memcpy(&features, parameters + 20, sizeof features);
  return (features & (1U << 17)) != 0;
}

/// From here on this process is ended by an io_uring_enter() that waits for something without
/// IORING_ENTER_NO_IOWAIT.
bool forbid_iowait() {
  constexpr unsigned least = offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t);
  constexpr unsigned flags = offsetof(seccomp_data, args) + 3 * sizeof(std::uint64_t);
  constexpr unsigned no_iowait = 1U << 7;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, least),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, no_iowait, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Waits with and without a deadline; each entry that was not submitted yet goes with the wait.
[[noreturn]] void wait_without_iowait() {
  if (!forbid_iowait()) std::_Exit(1);
  tandem::io::completion_options options;
  options.ring_entries = 8;
  const auto waiting = tandem::io::make_uring_backend(options);
  const int ready = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const auto deadline : {for_good, clock::now() + std::chrono::hours(1)}) {
    operation one(operation_kind::wait_readable, nullptr, 0);
    one.aim(nullptr, ready);
    if (waiting->submit(one) != submit_answer::pending) std::_Exit(2);
    waiting->wait(deadline);
    if (waiting->reap([](void*, operation&) noexcept {}, nullptr) != 1) std::_Exit(3);
  }
  std::_Exit(0);
}

TEST(uring_iowait, a_ring_that_waits_does_not_count_as_waiting_for_a_disk) {
  if (tandem::test::does_without_io_uring()) GTEST_SKIP() << "io_uring is refused here";
  if (!knows_no_iowait()) GTEST_SKIP() << "the kernel is older than 6.15";
  EXPECT_EXIT(wait_without_iowait(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
