// zero_copy_entry_test.cpp: the two completions of a send without a copy, as kernels give them.
// SPDX-License-Identifier: MIT
#include "uring/zero_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

using tandem::io::zero_copies;
using tandem::io::detail::operation;
using tandem::io::detail::operation_kind;

/// One send, and what the kernel answers.
class zero_copy_entry : public ::testing::Test {
 protected:
  void SetUp() override { submit(); }
  /// As the backend does, also again.
  io_uring_sqe submit() {
    io_uring_sqe entry{};
    tandem::io::prepare_zero_copy(&entry, sent_);
    ring_.mark(entry, sent_);
    return entry;
  }
  bool ends_by(std::int32_t outcome, std::uint32_t flags) {
    io_uring_cqe answer{};
    answer.res = outcome;
    answer.flags = flags;
    return ring_.ended(sent_, answer);
  }

  std::array<std::byte, 8> bytes_{};
  operation sent_{operation_kind::send_zero_copy, bytes_.data(), bytes_.size()};
  zero_copies ring_;
};

constexpr std::uint32_t more = IORING_CQE_F_MORE;
constexpr std::uint32_t notification = IORING_CQE_F_NOTIF;
constexpr auto copied = static_cast<std::int32_t>(0x80000000U);

TEST_F(zero_copy_entry, it_ends_when_the_memory_is_back_with_what_was_sent) {
  EXPECT_EQ(submit().opcode, IORING_OP_SEND_ZC);
  EXPECT_FALSE(ends_by(8, more));
  EXPECT_TRUE(ends_by(0, notification));
  EXPECT_EQ(sent_.outcome(), 8);
  EXPECT_FALSE(sent_.is_copied_anyway);
  EXPECT_EQ(submit().opcode, IORING_OP_SEND_ZC);
}

TEST_F(zero_copy_entry, a_failure_that_lends_nothing_ends_it_at_once) {
  EXPECT_TRUE(ends_by(-ECONNRESET, 0));
  EXPECT_EQ(sent_.outcome(), -ECONNRESET);
}

TEST_F(zero_copy_entry, a_cancel_is_told_when_the_memory_is_back) {
  EXPECT_FALSE(ends_by(-ECANCELED, more));
  EXPECT_TRUE(ends_by(0, notification));
  EXPECT_EQ(sent_.outcome(), -ECANCELED);
}

TEST_F(zero_copy_entry, what_was_copied_on_the_way_is_remembered_and_copied_from_then_on) {
  EXPECT_FALSE(ends_by(8, more));
  EXPECT_TRUE(ends_by(copied, notification));
  EXPECT_EQ(sent_.outcome(), 8);
  EXPECT_TRUE(sent_.is_copied_anyway);
  EXPECT_EQ(submit().opcode, IORING_OP_SEND);
  EXPECT_TRUE(ends_by(8, 0));
  EXPECT_EQ(sent_.outcome(), 8);
}

TEST_F(zero_copy_entry, what_the_kernel_refuses_begins_again_by_a_copy) {
  for (const int error : {EOPNOTSUPP, ENOMEM, ENOBUFS}) {
    for (const std::uint32_t flags : {0U, more}) {
      sent_.sends_a_copy = sent_.is_copied_anyway = false;
      EXPECT_EQ(submit().opcode, IORING_OP_SEND_ZC);
      EXPECT_EQ(ends_by(-error, flags), flags == 0);
      if (flags != 0) {
        EXPECT_TRUE(ends_by(0, notification));
      }
      EXPECT_EQ(sent_.outcome(), -EINTR);
      EXPECT_TRUE(sent_.wants_retry());
      EXPECT_EQ(submit().opcode, IORING_OP_SEND);
      EXPECT_TRUE(ends_by(-error, 0));  // of a send that copies it is a failure
      EXPECT_EQ(sent_.outcome(), -error);
    }
  }
}

TEST_F(zero_copy_entry, a_kernel_that_does_not_tell_of_copies_is_asked_without_that) {
  EXPECT_NE(submit().ioprio, 0);
  EXPECT_TRUE(ends_by(-EINVAL, 0));
  EXPECT_TRUE(sent_.wants_retry());
  const io_uring_sqe again = submit();
  EXPECT_EQ(again.opcode, IORING_OP_SEND_ZC);
  EXPECT_EQ(again.ioprio, 0);
  EXPECT_TRUE(ends_by(-EINVAL, 0));  // it has no such sends at all
  EXPECT_EQ(submit().opcode, IORING_OP_SEND);
}

TEST_F(zero_copy_entry, after_a_stop_it_is_cancelled_whatever_was_sent) {
  sent_.cancel_seen = true;
  zero_copies::stop(sent_);  // nothing is lent yet: its cancel ends it
  EXPECT_FALSE(ends_by(8, more));
  EXPECT_TRUE(ends_by(0, notification));
  EXPECT_EQ(sent_.outcome(), -ECANCELED);
}

}  // namespace
