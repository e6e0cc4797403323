// refused_memory_test.cpp: every allocation fails once, in whatever a program does with the completion pool.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>

#include "io/nothing_lost/refusal_cases.hpp"
#include "loopback_ports.hpp"
#include "refusals.hpp"

namespace {

using tandem::test::asker;

/// First of the completion threads and their watch, then of the worker, then of everybody: what the
/// system refuses comes from anywhere.
void refuse_memory_in(void (*use)()) {
  use();  // what is made once in a process
  const std::size_t descriptors = tandem::test::open_descriptors();
  for (const asker& whose :
       {asker::threads("refused-io-"), asker::threads("refused-0"), asker::anyone()}) {
    tandem::test::for_each_refusal(tandem::test::allocations, whose, [use] { use(); });
    if (::testing::Test::HasFailure()) return;
  }
  use();
  EXPECT_EQ(tandem::test::open_descriptors(), descriptors);
}

TEST(refused_memory, a_pool_that_cannot_begin_says_so_and_leaves_nothing) {
  refuse_memory_in(&tandem::test::start_and_end);
}
TEST(refused_memory, tasks_of_completion_threads_end_or_fail) {
  refuse_memory_in(&tandem::test::run_tasks);
}
TEST(refused_memory, timers_fire) { refuse_memory_in(&tandem::test::wait_for_timers); }
TEST(refused_memory, connections_work_or_say_why_not_and_the_next_ones_work) {
  refuse_memory_in(&tandem::test::exchange_bytes);
}
TEST(refused_memory, nothing_that_was_received_or_accepted_is_lost) {
  refuse_memory_in(&tandem::test::receive_and_take_incoming);
}
TEST(refused_memory, a_connection_that_finds_no_place_is_told_of) {
  refuse_memory_in(&tandem::test::accept_a_burst);
}
TEST(refused_memory, tasks_of_many_homes_go_on_after_one_batch) {
  refuse_memory_in(&tandem::test::bring_many_homes_at_once);
}
TEST(refused_memory, a_server_tells_of_each_client_that_it_could_not_serve) {
  refuse_memory_in(&tandem::test::serve_clients);
}
TEST(refused_memory, files_are_done_or_not_and_whole_ones_never_half) {
  refuse_memory_in(&tandem::test::use_files);
  EXPECT_EQ(tandem::test::files_left(), 3U);
}
TEST(refused_memory, a_pool_that_cannot_grow_goes_on_as_it_was) {
  refuse_memory_in(&tandem::test::resize_and_go_on);
}
TEST(refused_memory, a_pool_that_cannot_grow_by_itself_does_so_later) {
  refuse_memory_in(&tandem::test::grow_by_itself);
}
TEST(refused_memory, a_foreign_loop_says_what_it_could_not_watch_and_ends) {
  refuse_memory_in(&tandem::test::drive_a_library);
}
TEST(refused_memory, readers_give_back_what_they_had_taken) {
  refuse_memory_in(&tandem::test::use_the_rest);
}
TEST(refused_memory, an_end_with_open_connections_needs_nothing) {
  refuse_memory_in(&tandem::test::end_with_open_connections);
}

}  // namespace
