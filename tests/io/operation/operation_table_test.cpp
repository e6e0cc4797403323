// operation_table_test.cpp: the tables of operations and of file actions contradict nobody.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <tandem/io/detail/file_action.hpp>
#include <tandem/io/detail/operation_kind.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/shared_awaiters.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <vector>

namespace {

using namespace tandem::io::detail;

template <class Rows>
void every_name_is_there_once(const Rows& rows) {
  std::set<std::string> names;
  for (const auto& row : rows) {
    ASSERT_NE(row.name, nullptr);
    EXPECT_STRNE(row.name, "");
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(operation_table, every_operation_has_a_name_of_its_own) {
  every_name_is_there_once(operation_rows);
}

TEST(operation_table, every_file_action_has_a_name_of_its_own_but_for_those_of_registered_buffers) {
  std::vector<file_row> rows(file_rows.begin(), file_rows.end());
  for (const file_action plain : {file_action::read, file_action::write}) {
    const file_row& row = row_of(registered(plain));
    EXPECT_STREQ(row.name, row_of(plain).name);
    EXPECT_EQ(row.is_reading, row_of(plain).is_reading);
    std::erase_if(rows, [&](const file_row& each) { return each.action == row.action; });
  }
  every_name_is_there_once(rows);
}

TEST(operation_table, what_takes_waits_to_read_and_what_gives_waits_to_write) {
  for (const operation_row& row : operation_rows) {
    if (row.side == socket_side::none) continue;
    EXPECT_EQ(row.waits_for, row.side == socket_side::taking ? direction::read : direction::write)
        << row.name;
  }
}

TEST(operation_table, what_takes_or_gives_is_lossy_and_nothing_else_is) {
  for (const operation_row& row : operation_rows) {
    // How a process has ended is told again and again: its side is a place in the workers' port.
    const bool keeps_all = row.kind == operation_kind::wait_process;
    EXPECT_EQ(row.is_lossy, row.side != socket_side::none && !keeps_all) << row.name;
  }
}

TEST(operation_table, a_rest_is_of_what_the_buffer_is) {
  for (const operation_row& row : operation_rows) {
    switch (row.rest) {
      case rest_form::nothing: break;
      case rest_form::bytes: EXPECT_EQ(row.buffer, buffer_form::bytes) << row.name; break;
      case rest_form::window: EXPECT_EQ(row.buffer, buffer_form::window) << row.name; break;
      case rest_form::file: EXPECT_EQ(row.buffer, buffer_form::file) << row.name; break;
    }
  }
}

TEST(operation_table, what_is_no_matter_of_readiness_is_neither_tried_first_nor_ended_by_a_stop) {
  for (const operation_row& row : operation_rows) {
    if (row.waits_for != direction::none) continue;
    EXPECT_FALSE(row.is_tried_first) << row.name;
    EXPECT_FALSE(row.ends_by_stop) << row.name;
    EXPECT_EQ(row.side, socket_side::none) << row.name;
  }
}

TEST(operation_table, only_what_has_bytes_may_be_done_for_want_of_them) {
  for (const operation_row& row : operation_rows) {
    if (!row.is_done_if_empty) continue;
    EXPECT_TRUE(row.buffer == buffer_form::bytes || row.buffer == buffer_form::window) << row.name;
  }
}

TEST(operation_table, a_set_of_kinds_has_those_of_which_the_column_says_yes) {
  for (const operation_row& row : operation_rows) {
    EXPECT_EQ(are_tried_first.has(row.kind), row.is_tried_first) << row.name;
    EXPECT_EQ(are_done_if_empty.has(row.kind), row.is_done_if_empty) << row.name;
    EXPECT_EQ(are_on_our_descriptors.has(row.kind), row.is_ours) << row.name;
    EXPECT_EQ(are_finished_by_backend.has(row.kind), row.is_finished_by_backend) << row.name;
    EXPECT_EQ(are_taking.has(row.kind), row.side == socket_side::taking) << row.name;
    EXPECT_EQ(leave_a_rest.has(row.kind), row.rest != rest_form::nothing) << row.name;
    EXPECT_EQ(leave_bytes.has(row.kind), row.rest == rest_form::bytes) << row.name;
  }
}

TEST(operation_table, only_transfers_are_at_an_offset_or_position_and_none_of_them_opens) {
  for (const file_row& row : file_rows) {
    EXPECT_TRUE(row.is_transfer || !(row.is_at_offset || row.is_at_position)) << row.name;
    EXPECT_FALSE(row.is_at_offset && row.is_at_position) << row.name;
    EXPECT_TRUE(row.is_transfer || !row.is_reading) << row.name;
    EXPECT_FALSE(row.is_transfer && row.is_opening) << row.name;
    // A ring cannot take the position and move it in one step.
    EXPECT_EQ(row.is_transfer && row.is_for_blocking, row.is_at_position) << row.name;
  }
}

TEST(operation_table, workers_wait_themselves_for_nothing_but_sockets_of_ours) {
  for (const operation_row& row : operation_rows) {
    EXPECT_TRUE(row.is_ours || !are_of_connections.has(row.kind)) << row.name;
  }
}

// What race() refuses, and what it takes.
static_assert(tandem::io::accept_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::transfer_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::write_all_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::vectored_read_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::vectored_write_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::shared_transfer_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::shared_write_all_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::signal_awaiter::lossy_when_dropped::value);
static_assert(!tandem::io::connect_awaiter::lossy_when_dropped::value);
static_assert(!tandem::io::readiness_awaiter::lossy_when_dropped::value);

}  // namespace
