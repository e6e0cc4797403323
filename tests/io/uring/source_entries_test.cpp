// source_entries_test.cpp: multishot entries that an old kernel refuses, with its answers made up.
// SPDX-License-Identifier: MIT
#include "uring/source_entries.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <tandem/io/completion_options.hpp>
#include <vector>

#include "io/support/silent_backend.hpp"
#include "io_uring_filter.hpp"
#include "ring/buffer_stock.hpp"

namespace {

using tandem::io::multishot_source;

class noting_source final : public multishot_source {
 public:
  using multishot_source::multishot_source;
  void received(std::int32_t outcome, std::uint32_t /*buffer*/, bool armed) noexcept override {
    outcomes.push_back(outcome);
    EXPECT_FALSE(armed);
  }

  std::vector<std::int32_t> outcomes;
};

class listening_socket {
 public:
  listening_socket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::listen(descriptor_, 1), 0);
  }
  listening_socket(const listening_socket&) = delete;
  listening_socket& operator=(const listening_socket&) = delete;
  ~listening_socket() { ::close(descriptor_); }
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

class source_entries : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tandem::test::does_without_io_uring()) GTEST_SKIP() << "io_uring is refused here";
    ASSERT_EQ(io_uring_queue_init(4, &ring_, 0), 0);
    sleep_.use(silent_);
    tandem::io::completion_options options;
    options.receive_buffers = 4;
    options.max_receive_buffers = 4;
    stock_.open(silent_, options);
    entries_.use_buffers(ring_, stock_.buffers());
  }
  void TearDown() override {
    if (tandem::test::does_without_io_uring()) return;
    io_uring_queue_exit(&ring_);
    stock_.close();
  }

  /// @returns  whether the entry was for many completions
  bool prepare(multishot_source& source) {
    io_uring_sqe entry{};
    entries_.prepare(&entry, source);
    const unsigned repeats = source.what() == multishot_source::kind::accept
                                 ? unsigned{IORING_ACCEPT_MULTISHOT}
                                 : unsigned{IORING_RECV_MULTISHOT};
    return (entry.ioprio & repeats) != 0;
  }
  void answer(multishot_source& source, std::int32_t outcome) {
    io_uring_cqe completion;
    std::memset(&completion, 0, sizeof completion);
    completion.res = outcome;
    entries_.received(source, completion);
  }

  /// Both are armed before the kernel's first answer is read; then each is asked for once more.
  void two_at_once(multishot_source::kind what) {
    const listening_socket socket;
    noting_source one(what, socket.descriptor());
    noting_source other(what, socket.descriptor());
    for (multishot_source* const each : {&one, &other}) EXPECT_TRUE(prepare(*each));
    for (multishot_source* const each : {&one, &other}) answer(*each, -EINVAL);
    for (multishot_source* const each : {&one, &other}) EXPECT_FALSE(prepare(*each));
    // From now on it is no question of how it was asked.
    for (multishot_source* const each : {&one, &other}) answer(*each, -EINVAL);
    const std::vector<std::int32_t> heard{-ECANCELED, -EINVAL};
    EXPECT_EQ(one.outcomes, heard);
    EXPECT_EQ(other.outcomes, heard);
  }

 private:
  io_uring ring_{};
  tandem::test::silent_backend silent_;
  tandem::io::ring_sleep sleep_;
  tandem::io::buffer_stock stock_{sleep_, this};
  tandem::io::source_entries entries_;
};

TEST_F(source_entries, all_receives_that_a_kernel_refuses_at_once_are_asked_for_one_at_a_time) {
  two_at_once(multishot_source::kind::receive);
}

TEST_F(source_entries, all_accepts_that_a_kernel_refuses_at_once_are_asked_for_one_at_a_time) {
  two_at_once(multishot_source::kind::accept);
}

}  // namespace
