// uring_backend_test.cpp: the io_uring backend alone, on this thread, against its contract (backend.hpp).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>

#include "backend.hpp"
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

}  // namespace
