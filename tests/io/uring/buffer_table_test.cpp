// buffer_table_test.cpp: entries name the buffers that their ring has registered, and no others.
// SPDX-License-Identifier: MIT
#include "uring/buffer_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/registered_buffer.hpp>

#include "io/support/silent_backend.hpp"
#include "io_uring_filter.hpp"
#include "uring/file_entry.hpp"

namespace {

using tandem::io::registered_buffer;
using tandem::io::registered_bytes;
using tandem::io::detail::file_action;
using tandem::io::detail::file_request;

class buffer_table : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tandem::test::does_without_io_uring()) GTEST_SKIP() << "io_uring is refused here";
    ASSERT_EQ(io_uring_queue_init(4, &ring_, 0), 0);
    table_.emplace(ring_, backend_);
  }
  void TearDown() override {
    if (!table_) return;
    table_.reset();
    io_uring_queue_exit(&ring_);
  }
  io_uring_sqe entry_of(file_action action, registered_bytes part) {
    file_request asked(action, part.data(), part.size(), 8192);
    asked.use_slot(part.slot());
    io_uring_sqe made{};
    tandem::io::prepare_file_entry(&made, asked, *table_);
    return made;
  }

  io_uring ring_{};
  tandem::test::silent_backend backend_;
  std::optional<tandem::io::buffer_table> table_;
};

TEST_F(buffer_table, an_entry_names_the_slot_of_its_buffer) {
  registered_buffer first(4096);
  registered_buffer second(16384);
  for (registered_buffer* const each : {&first, &second, &first}) {
    const io_uring_sqe read = entry_of(file_action::read_registered, each->bytes(1024, 2048));
    EXPECT_EQ(read.opcode, IORING_OP_READ_FIXED);
    EXPECT_EQ(read.buf_index, each->bytes().slot());
    EXPECT_EQ(read.addr, reinterpret_cast<std::uintptr_t>(each->data() + 1024));  // NOLINT
    EXPECT_EQ(read.len, 2048U);
    EXPECT_EQ(read.off, 8192U);
    EXPECT_EQ(entry_of(file_action::write_registered, each->bytes()).opcode, IORING_OP_WRITE_FIXED);
    EXPECT_EQ(entry_of(file_action::read, each->bytes()).opcode, IORING_OP_READ);
  }
  EXPECT_EQ(backend_.wakes, 0);
}

TEST_F(buffer_table, the_end_of_a_buffer_wakes_the_rings_that_know_it) {
  std::optional<registered_buffer> known(std::in_place, 4096);
  {
    registered_buffer unknown(4096);
    (void)entry_of(file_action::read_registered, known->bytes());
  }
  EXPECT_EQ(backend_.wakes, 0);
  known.reset();
  EXPECT_EQ(backend_.wakes, 1);
  table_->look_for_ended();
  registered_buffer next(4096);
  EXPECT_EQ(entry_of(file_action::read_registered, next.bytes()).opcode, IORING_OP_READ_FIXED);
}

TEST_F(buffer_table, what_is_too_long_to_be_registered_is_read_into_plainly) {
  std::array<std::byte, 64> begins{};
  const int slot = tandem::io::take_buffer_slot(begins.data(), std::size_t{1} << 40);
  const registered_bytes part(begins.data(), begins.size(), slot);
  EXPECT_EQ(entry_of(file_action::read_registered, part).opcode, IORING_OP_READ);
  tandem::io::give_back_buffer_slot(slot);
  EXPECT_EQ(backend_.wakes, 0);
}

}  // namespace
