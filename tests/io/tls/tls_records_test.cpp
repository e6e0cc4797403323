// tls_records_test.cpp: what a tls_stream gives to the stream below: few writes, full records, one farewell.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <tandem/io/any_stream.hpp>
#include <utility>
#include <vector>

#include "io/tls/tls_support.hpp"

namespace {

using tandem::task;
using tandem::io::tls_stream;
using tandem::test::any_pair;
using tandem::test::bytes_of;
using tandem::test::expect_talks;
using tandem::test::many_bytes;
using tandem::test::memory_stream;
using tandem::test::read_to_end;
using tandem::test::run_tls;
using tandem::test::tls_pair;

/// What was written: how often, and the records in it.
class tap {
 public:
  void wrote(std::span<const std::byte> bytes) {
    const std::lock_guard guard(mutex_);
    ++writes_;
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// From now on.
  void clear() {
    const std::lock_guard guard(mutex_);
    writes_ = 0;
    bytes_.clear();
  }
  std::size_t writes() const {
    const std::lock_guard guard(mutex_);
    return writes_;
  }
  std::size_t bytes() const {
    const std::lock_guard guard(mutex_);
    return bytes_.size();
  }
  /// RFC 8446, 5.1: a type, a version, a length of two bytes.
  std::size_t records() const {
    const std::lock_guard guard(mutex_);
    std::size_t count = 0;
    for (std::size_t at = 0; at < bytes_.size(); ++count) {
      at += 5 + (std::to_integer<std::size_t>(bytes_.at(at + 3)) << 8) +
            std::to_integer<std::size_t>(bytes_.at(at + 4));
      EXPECT_LE(at, bytes_.size()) << "half a record";
    }
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::size_t writes_ = 0;
  std::vector<std::byte> bytes_;
};

/// Takes all that it is given at once, and notes it.
class tapped_stream {
 public:
  tapped_stream(memory_stream inner, std::shared_ptr<tap> told)
      : inner_(std::move(inner)), told_(std::move(told)) {}

  task<std::size_t> read(std::span<std::byte> room) { co_return co_await inner_.read(room); }
  task<std::size_t> write(std::span<const std::byte> bytes) {
    told_->wrote(bytes);
    (void)co_await inner_.write_all(bytes);
    co_return bytes.size();
  }
  task<void> write_all(std::span<const std::byte> bytes) { (void)co_await write(bytes); }
  void shutdown() { inner_.shutdown(); }
  void close() { inner_.close(); }

 private:
  memory_stream inner_;
  std::shared_ptr<tap> told_;
};

/// Gives `body` a connection, of whose client the tap tells.
template <class Body>
void with_tap(Body body) {
  run_tls([&body]() -> task<void> {
    const auto told = std::make_shared<tap>();
    auto both = tandem::test::make_memory_connection<memory_stream>();
    any_pair below(tapped_stream(std::move(both.first), told), std::move(both.second));
    tls_pair made = co_await tandem::test::make_tls_pair_over(std::move(below));
    co_await expect_talks(made);
    told->clear();
    co_await body(made, *told);
  });
}

TEST(tls_records, small_buffers_of_a_list_share_a_record_and_a_write) {
  with_tap([](tls_pair& both, tap& told) -> task<void> {
    const std::vector<std::span<const std::byte>> list(100, bytes_of("ten bytes!"));
    co_await both.client.write_all(list);
    EXPECT_EQ(told.records(), 1U);
    EXPECT_EQ(told.writes(), 1U);
    EXPECT_LT(told.bytes(), 1100U);
    both.client.shutdown();
    EXPECT_EQ((co_await read_to_end(both.server)).size(), 1000U);
  });
}

TEST(tls_records, what_one_write_takes_goes_out_together_in_full_records) {
  with_tap([](tls_pair& both, tap& told) -> task<void> {
    EXPECT_EQ(co_await both.client.write(many_bytes(1 << 20)), 64U * 1024);
    EXPECT_EQ(told.records(), 4U);
    EXPECT_EQ(told.writes(), 1U);
    told.clear();
    co_await both.client.write_all(many_bytes(1 << 20));
    EXPECT_EQ(told.records(), 64U);
    EXPECT_EQ(told.writes(), 16U);
  });
}

TEST(tls_records, nothing_is_sent_for_nothing) {
  with_tap([](tls_pair& both, tap& told) -> task<void> {
    const std::vector<std::span<const std::byte>> empty(3);
    co_await both.client.write_all(empty);
    co_await both.client.write_all({});
    EXPECT_EQ(co_await both.client.write({}), 0U);
    EXPECT_EQ(told.bytes(), 0U);
  });
}

TEST(tls_records, there_is_one_farewell_and_none_without_being_asked) {
  with_tap([](tls_pair& both, tap& told) -> task<void> {
    both.client.shutdown();
    both.client.shutdown();
    EXPECT_TRUE((co_await read_to_end(both.server)).empty());
    both.server.shutdown();
    EXPECT_TRUE(co_await both.client.finish(std::chrono::hours(1)));
    EXPECT_EQ(told.records(), 1U);
  });
  with_tap([](tls_pair& both, tap& told) -> task<void> {
    both.client.close();
    EXPECT_EQ(told.bytes(), 0U);
    tandem::test::expect_refusal(co_await tandem::test::end_of_read(both.server),
                                 tandem::io::tls::errc::truncated);
  });
}

}  // namespace
