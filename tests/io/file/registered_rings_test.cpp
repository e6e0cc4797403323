// registered_rings_test.cpp: what rings ask the kernel for registered buffers, and let go of.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <tandem/resume_on.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "fork_support.hpp"
#include "io/file/refused_buffers.hpp"
#include "io/support/as_nobody.hpp"
#include "io/support/direct_support.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::completion_pool;
using tandem::io::file;
using tandem::io::registered_buffer;
using tandem::test::are_equal;
using tandem::test::buffers_asked_for;
using tandem::test::open_past_cache;
using tandem::test::refused_buffers;
using tandem::test::tables_asked_for;

constexpr std::size_t unit = 4096;
constexpr std::size_t size = 64 * unit;

/// KiB that the kernel holds for devices and rings.
long pinned_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long count = 0;
    if (word == "VmPin:" && status >> count) return count;
  }
  return -1;
}

class registered_rings : public ::testing::Test {
 protected:
  registered_rings() { tandem::test::put(path_, whole_); }

  /// Some reads on each completion thread, and how often rings have asked meanwhile.
  void read_on_each(completion_pool& pool, unsigned threads, tandem::test::test_runtime& rt,
                    registered_buffer& block) {
    tables_ = tables_asked_for();
    buffers_ = buffers_asked_for();
    for (unsigned i = 0; i < threads; ++i) {
      rt.run([&]() -> task<void> {
        co_await tandem::resume_on(pool.thread(i).executor());
        file source = co_await open_past_cache(path_);
        for (std::size_t at = 0; at < 10 * unit; at += unit) {
          EXPECT_EQ(co_await source.read_at(block.bytes(at, unit), at), unit);
        }
        EXPECT_TRUE(are_equal(block.data(), std::span(whole_).first(10 * unit)));
        std::fill_n(block.data(), block.size(), std::byte{});
      }());
    }
    tables_ = tables_asked_for() - tables_;
    buffers_ = buffers_asked_for() - buffers_;
  }

  tandem::test::temporary_folder folder_;
  const std::string path_ = folder_ / "f";
  const std::vector<std::byte> whole_ = tandem::test::pattern(size, 3);
  int tables_ = 0;
  int buffers_ = 0;
};

/// How many rings a pool has.
int rings_of(const completion_pool& pool, unsigned threads) {
  return pool.backend_name() == "io_uring" ? static_cast<int>(threads) : 0;
}

TEST_F(registered_rings, each_ring_registers_a_buffer_once_and_lets_go_of_it_when_it_ends) {
  constexpr unsigned threads = 2;
  tandem::test::test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(threads, threads));
  const int rings = rings_of(pool, threads);
  const long before = pinned_kib();
  {
    registered_buffer block(size, unit);
    read_on_each(pool, threads, rt, block);
    EXPECT_EQ(tables_, rings);
    EXPECT_EQ(buffers_, rings);
    EXPECT_EQ(pinned_kib(), before + rings * static_cast<long>(size / 1024));
    read_on_each(pool, threads, rt, block);
    EXPECT_EQ(tables_, 0);
    EXPECT_EQ(buffers_, 0);
  }
  // By threads that have nothing else to do.
  while (pinned_kib() != before) std::this_thread::yield();
}

TEST_F(registered_rings, a_refused_buffer_is_a_plain_one_and_is_not_asked_for_again) {
  tandem::test::test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 1));
  registered_buffer first(size, unit);
  {
    const refused_buffers refusing(refused_buffers::step::buffer, ENOMEM);
    read_on_each(pool, 1, rt, first);
    EXPECT_EQ(buffers_, rings_of(pool, 1));
  }
  read_on_each(pool, 1, rt, first);
  EXPECT_EQ(buffers_, 0);
  registered_buffer second(size, unit);
  read_on_each(pool, 1, rt, second);
  EXPECT_EQ(buffers_, rings_of(pool, 1));
  first = registered_buffer();
  registered_buffer third(size, unit);  // in a slot of which was refused
  read_on_each(pool, 1, rt, third);
  EXPECT_EQ(buffers_, rings_of(pool, 1));
}

TEST_F(registered_rings, a_kernel_without_such_tables_is_asked_for_one_once) {
  tandem::test::test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 1));
  const refused_buffers refusing(refused_buffers::step::table, EINVAL);
  for (int round = 0; round < 2; ++round) {
    registered_buffer block(size, unit);
    read_on_each(pool, 1, rt, block);
    EXPECT_EQ(tables_, round == 0 ? rings_of(pool, 1) : 0);
    EXPECT_EQ(buffers_, 0);
  }
}

TEST_F(registered_rings, where_too_little_memory_may_be_locked_transfers_are_plain_ones) {
  constexpr rlim_t little = 2U << 20;  // for a ring it does
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
  const rlimit small{little, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &small), 0);
  const long pinned = pinned_kib();
  tandem::test::as_nobody(folder_.path(), [&] {
    tandem::test::test_runtime rt;
    completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 1));
    registered_buffer block(2 * little, unit);
    read_on_each(pool, 1, rt, block);
    EXPECT_EQ(buffers_, rings_of(pool, 1));
    EXPECT_EQ(pinned_kib(), pinned);
  });
  EXPECT_EQ(::setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

TEST_F(registered_rings, a_child_of_fork_registers_an_inherited_buffer_and_lets_go_of_it) {
  if (!tandem::test::child_may_allocate) GTEST_SKIP() << "the allocator does not survive a fork";
  std::optional<registered_buffer> block(std::in_place, size);
  const auto use = [this](registered_buffer& buffer) -> task<void> {
    file source = co_await open_past_cache(path_);
    EXPECT_EQ(co_await source.read_at(buffer.bytes(0, unit), 0), unit);
  };
  tandem::test::test_runtime rt;
  rt.run(use(*block));
  const int child = tandem::test::in_child([&] {
    tandem::test::test_runtime own;
    const long before = pinned_kib();
    own.run(use(*block));
    block.reset();
    while (pinned_kib() > before) std::this_thread::yield();
    registered_buffer next(size);  // in its slot
    own.run(use(next));
    return 0;
  });
  EXPECT_EQ(child, 0);
}

}  // namespace
