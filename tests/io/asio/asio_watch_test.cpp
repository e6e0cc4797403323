// asio_watch_test.cpp: a descriptor that Asio watches, and the operations that are in a row there.
// SPDX-License-Identifier: MIT
#include "asio/asio_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <vector>

#include "readiness/operation_list.hpp"

namespace {

using tandem::io::detail::direction;
using tandem::io::detail::operation;
using tandem::io::detail::operation_kind;

/// As submit() leaves it.
class waiting_operation : public operation {
 public:
  waiting_operation() : operation(operation_kind::wait_readable, nullptr, 0) {
    ::new (backend_room()) tandem::io::operation_entry(direction::read);
  }
};

std::vector<operation*> all_of(tandem::io::operation_list& list) {
  std::vector<operation*> out;
  while (operation* const each = list.pop_front()) out.push_back(each);
  return out;
}

TEST(operation_list, is_first_in_first_out) {
  std::array<waiting_operation, 3> items;
  tandem::io::operation_list list;
  EXPECT_TRUE(list.empty());
  for (operation& each : items) list.push_back(each);
  EXPECT_EQ(list.front(), &items[0]);
  EXPECT_EQ(all_of(list), (std::vector<operation*>{&items[0], &items[1], &items[2]}));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(operation_list, any_of_them_may_leave_early_and_come_back_as_the_last) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    std::array<waiting_operation, 3> items;
    tandem::io::operation_list list;
    std::vector<operation*> expected;
    for (operation& each : items) list.push_back(each);
    for (operation& each : items) {
      if (&each != &items[gone]) expected.push_back(&each);
    }
    expected.push_back(&items[gone]);
    list.remove(items[gone]);
    list.push_back(items[gone]);
    EXPECT_EQ(all_of(list), expected) << "operation " << gone;
  }
}

TEST(operation_list, whoever_is_alone_leaves_an_empty_list) {
  waiting_operation only;
  tandem::io::operation_list list;
  list.push_back(only);
  list.remove(only);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  list.push_back(only);
  EXPECT_EQ(list.pop_front(), &only);
}

class asio_watch : public ::testing::Test {
 protected:
  asio_watch() { EXPECT_EQ(::pipe2(pipe_.data(), O_CLOEXEC), 0); }
  ~asio_watch() override {
    for (const int each : pipe_) ::close(each);
  }
  int readable_end() const { return pipe_[0]; }
  bool is_blocking() const { return (::fcntl(readable_end(), F_GETFL) & O_NONBLOCK) == 0; }
  void wait_to_read() { EXPECT_EQ(at_.wait<tandem::io::asio_watch>(direction::read), 0); }
  /// How each wait did of which the table was told.
  std::vector<int> told() {
    std::vector<int> out;
    for (const auto& each : table_.ready()) {
      EXPECT_EQ(each.at, &at_);
      out.push_back(each.at->of(each.way).error);
    }
    table_.clear_ready();
    return out;
  }

  std::array<int, 2> pipe_{-1, -1};
  tandem::io::handler_memory memory_;  // first: handlers die with the context
  asio::io_context context_{1};
  tandem::io::registration_table table_;
  tandem::io::asio_watch at_{context_, memory_, table_};
};

TEST_F(asio_watch, a_descriptor_that_others_share_is_given_back_as_it_was) {
  EXPECT_EQ(at_.enter<tandem::io::asio_watch>(readable_end(), false), 0);
  EXPECT_TRUE(at_.is_entered());
  EXPECT_EQ(at_.descriptor(), readable_end());
  wait_to_read();
  at_.leave<tandem::io::asio_watch>();
  EXPECT_FALSE(at_.is_entered());
  EXPECT_TRUE(is_blocking());
}

TEST_F(asio_watch, a_descriptor_that_did_not_block_does_not_after_it_either) {
  ASSERT_EQ(::fcntl(readable_end(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(at_.enter<tandem::io::asio_watch>(readable_end(), false), 0);
  wait_to_read();
  at_.leave<tandem::io::asio_watch>();
  EXPECT_FALSE(is_blocking());
}

TEST_F(asio_watch, another_ones_mode_is_left_alone_if_the_number_is_that_ones_by_now) {
  for (const int flags : {O_NONBLOCK, 0}) {
    std::array<int, 2> other{};
    ASSERT_EQ(::pipe2(other.data(), O_CLOEXEC | flags), 0);
    EXPECT_EQ(at_.enter<tandem::io::asio_watch>(readable_end(), false), 0);
    wait_to_read();
    ASSERT_EQ(::dup3(other[0], readable_end(), O_CLOEXEC), readable_end());
    at_.leave<tandem::io::asio_watch>();
    EXPECT_EQ(is_blocking(), flags == 0);
    context_.poll();
    ASSERT_EQ(::fcntl(readable_end(), F_SETFL, 0), 0);
    for (const int each : other) ::close(each);
  }
}

TEST_F(asio_watch, what_cannot_be_watched_is_an_error_number_and_nothing_is_entered) {
  EXPECT_EQ(at_.enter<tandem::io::asio_watch>(-1, false), EBADF);
  EXPECT_FALSE(at_.is_entered());
  at_.leave<tandem::io::asio_watch>();
}

TEST_F(asio_watch, a_wait_ends_when_its_descriptor_is_ready) {
  ASSERT_EQ(at_.enter<tandem::io::asio_watch>(readable_end(), false), 0);
  wait_to_read();
  EXPECT_EQ(at_.waits, 1U);
  EXPECT_TRUE(at_.of(direction::read).armed);
  EXPECT_FALSE(at_.of(direction::write).armed);
  context_.poll();
  EXPECT_TRUE(told().empty());
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  context_.poll();
  EXPECT_EQ(told(), std::vector<int>{0});
  EXPECT_EQ(at_.waits, 0U);
}

TEST_F(asio_watch, whoever_leaves_ends_the_waits_and_may_enter_again_when_they_have_ended) {
  waiting_operation waits;
  ASSERT_EQ(at_.enter<tandem::io::asio_watch>(readable_end(), false), 0);
  at_.of(direction::read).waiting.push_back(waits);
  EXPECT_FALSE(at_.is_idle());
  wait_to_read();
  at_.of(direction::read).waiting.remove(waits);
  EXPECT_TRUE(at_.is_idle());
  at_.leave<tandem::io::asio_watch>();
  EXPECT_FALSE(at_.of(direction::read).armed);
  EXPECT_EQ(at_.waits, 1U) << "it is still to run";
  context_.poll();
  EXPECT_TRUE(told().empty()) << "of what has left nobody hears";
  EXPECT_EQ(at_.waits, 0U);
  EXPECT_EQ(at_.enter<tandem::io::asio_watch>(readable_end(), false), 0);
}

}  // namespace
