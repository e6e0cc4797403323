// foreign_loop_mode_test.cpp: how Linux keeps a descriptor that is watched: its mode, and open.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tandem/io/foreign_loop.hpp>
#include <tandem/io/readiness.hpp>

#include "io/support/loop_support.hpp"

namespace {

using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::native_descriptor;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::test::foreign_pair;
using tandem::test::in_a_loop;
using tandem::test::last_plain_error;
using tandem::test::loop_passes;
using tandem::test::plain_socket;
using tandem::test::receive_plain;
using tandem::test::renumber;

TEST(foreign_loop, a_new_descriptor_keeps_its_mode_when_the_old_one_of_its_number_is_forgotten) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair old;
    foreign_pair next;
    EXPECT_EQ(::fcntl(old.ours(), F_SETFL, 0), 0);  // blocking
    const auto ignore = [](native_descriptor, ready_events) {};
    loop.watch(old.ours(), watch_interest::read, ignore);
    co_await passes.pass();
    loop.forget(old.ours());
    co_await passes.pass();
    EXPECT_EQ(::fcntl(old.ours(), F_GETFL) & O_NONBLOCK, 0) << "it is given back as it was";
    loop.watch(old.ours(), watch_interest::read, ignore);
    co_await passes.pass();
    const int number = old.take_ours();
    ::close(number);
    renumber(next, number);
    loop.forget(number);
    co_await passes.pass();
    EXPECT_NE(::fcntl(number, F_GETFL) & O_NONBLOCK, 0);
  });
}

TEST(foreign_loop, a_closed_sockets_end_leaves_when_it_is_forgotten) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair pair;
    loop.watch(pair.ours(), watch_interest::read_write, [&](native_descriptor, ready_events) {
      loop.watch(pair.ours(), watch_interest::read);
    });
    co_await passes.pass();
    const plain_socket number = pair.take_ours();
    tandem::test::close_plain(number);
    char byte = 0;
    EXPECT_EQ(receive_plain(pair.peer(), &byte, 1), -1) << "what waits for it keeps it open";
    EXPECT_EQ(last_plain_error(), std::errc::operation_would_block);
    loop.forget(number);
    co_await tandem::io::readable(pair.peer());
    EXPECT_EQ(receive_plain(pair.peer(), &byte, 1), 0);
  });
}

}  // namespace
