// iocp_cancel_storm.cpp: cancels that race with completions of sockets and files, and what the kernel may write to.
// SPDX-License-Identifier: MIT
//
// 20,000 cancels, and the nightly run (TANDEM_STRESS_SECONDS) 1,000,000. Each operation has one
// outcome; no memory of a call is used again or freed before its packet was dequeued, and none is
// left. Shown to fail on three changes of the library (early ones of 20,000): a cancelled transfer
// ends, and gives its memory back, without its packet (4,976); it does if the cancel found nothing
// (1,898); a registration that left is used again while its polls are pending (10).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <random>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io_homes.hpp"
#include "iocp/lent_memory.hpp"
#include "seeded.hpp"
#include "spin.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::native_descriptor;
using tandem::test::connection;
using tandem::test::homes;
using tandem::test::spin;

std::size_t cancels_wanted() { return tandem::test::is_nightly() ? 1'000'000 : 20'000; }

/// What the kernel may write to, by its own books: the backend's are what is looked at.
class lent_memory final : public tandem::io::lent_memory_listener {
 public:
  lent_memory() { tandem::io::lent_memory_heard_by.store(this, std::memory_order_release); }
  lent_memory(const lent_memory&) = delete;
  lent_memory& operator=(const lent_memory&) = delete;
  ~lent_memory() { tandem::io::lent_memory_heard_by.store(nullptr, std::memory_order_release); }

  void lent(const void* memory) noexcept override {
    const std::lock_guard guard(lock_);
    ++count_;
    if (!pending_.insert(memory).second) ++early_;
  }
  void returned(const void* memory) noexcept override {
    const std::lock_guard guard(lock_);
    if (pending_.erase(memory) == 0) ++stray_;
  }
  void given_up(const void* memory) noexcept override {
    const std::lock_guard guard(lock_);
    if (pending_.count(memory) != 0) ++early_;
  }

  /// pre: no backend lives
  void expect_all_returned() {
    const std::lock_guard guard(lock_);
    EXPECT_EQ(early_, 0U) << "of " << count_ << " calls: used again or freed before the packet";
    EXPECT_EQ(stray_, 0U) << "of " << count_ << " calls: more packets than calls";
    EXPECT_EQ(pending_.size(), 0U) << "of " << count_ << " calls: no packet";
    EXPECT_GT(count_, cancels_wanted() / 10) << "too few came so far that a cancel could race";
    std::printf("%zu calls of the kernel\n", count_);
  }

 private:
  std::mutex lock_;
  std::unordered_set<const void*> pending_;
  std::size_t count_ = 0;
  std::size_t early_ = 0;
  std::size_t stray_ = 0;
};

/// What has ended how.
class outcomes {
 public:
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> cancelled{0};
  std::atomic<std::size_t> failed{0};
};

/// Begins it somewhere, and cancels it a moment later. @returns  bytes, 0 if it was cancelled
task<std::size_t> storm_once(homes& at, std::mt19937_64& dice, outcomes& seen,
                             task<std::size_t> operation) {
  auto running = tandem::spawn(at.any(dice), std::move(operation));
  ++seen.begun;
  // Whoever only spins keeps the worker that the operation waits for.
  switch (dice() % 4) {
    case 0: break;
    case 1: co_await tandem::sleep_for(std::chrono::microseconds(dice() % 100)); break;
    default:
      for (std::uint64_t turns = dice() % 40; turns != 0; --turns) co_await tandem::yield();
      spin(dice() % 500);
  }
  running.cancel();
  const auto ended = co_await as_result(running);
  if (ended) {
    ++seen.done;
    co_return ended.value();
  }
  ++(ended.is_cancelled() ? seen.cancelled : seen.failed);
  co_return 0;
}

/// Byte `at` of every stream and file here.
std::byte nth(std::size_t at) { return static_cast<std::byte>((at * 2654435761U) >> 13U); }

task<std::size_t> read_socket(tandem::io::tcp_stream& from, std::span<std::byte> room) {
  co_return co_await from.read(room);
}
task<std::size_t> read_pipe(file& from, std::span<std::byte> room) {
  co_return co_await from.read_at(room, 0);
}

/// Both read bytes one by one as they come, and whatever a cancel lets through is the next one.
template <class Read, class Write>
task<void> storm_of_bytes(homes& at, std::mt19937_64& dice, outcomes& seen, std::size_t cancels,
                          Read read, Write write) {
  std::array<std::byte, 1> room{};
  std::size_t sent = 0;
  std::size_t got = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cancels; ++i) {
    // One before the read, one that races with it, or none at all.
    if (dice() % 3 != 0 && sent == got) {
      const std::byte next = nth(sent++);
      co_await write(std::span(&next, 1));
    }
    const std::size_t n = co_await storm_once(at, dice, seen, read(std::span<std::byte>(room)));
    if (n != 0) wrong += room[0] != nth(got++) ? 1U : 0U;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_TRUE(got == sent || got + 1 == sent) << got << " of " << sent;
}

task<void> storm_of_sockets(homes& at, std::uint64_t seed, outcomes& seen, std::size_t cancels) {
  std::mt19937_64 dice(seed);
  // A connection for some rounds: its watch comes and goes with its waits.
  while (cancels != 0) {
    const std::size_t some = std::min<std::size_t>(cancels, 500);
    cancels -= some;
    connection c = co_await tandem::test::make_connection();
    co_await storm_of_bytes(
        at, dice, seen, some,
        [&](std::span<std::byte> room) { return read_socket(c.server, room); },
        [&](std::span<const std::byte> bytes) { return c.client.write_all(bytes); });
  }
}

native_descriptor descriptor_of(HANDLE handle) {
  return reinterpret_cast<native_descriptor>(handle);  // NOLINT: it is one
}

task<void> storm_of_pipes(homes& at, std::uint64_t seed, outcomes& seen, std::size_t cancels) {
  std::mt19937_64 dice(seed);
  const std::string name = "\\\\.\\pipe\\tandem-storm-" + std::to_string(::GetCurrentProcessId()) +
                           "-" + std::to_string(seed);
  file reader = file::from_native(
      descriptor_of(::CreateNamedPipeA(name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                                       PIPE_TYPE_BYTE, 1, 4096, 4096, 0, nullptr)));
  file writer = file::from_native(
      descriptor_of(::CreateFileA(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                  OPEN_EXISTING, FILE_FLAG_OVERLAPPED, nullptr)));
  co_await storm_of_bytes(
      at, dice, seen, cancels, [&](std::span<std::byte> room) { return read_pipe(reader, room); },
      [&](std::span<const std::byte> bytes) { return writer.write_all_at(bytes, 0); });
}

task<std::size_t> read_file_at(file& from, std::span<std::byte> room, std::uint64_t offset) {
  co_return co_await from.read_at(room, offset);
}

task<void> storm_of_files(homes& at, std::uint64_t seed, outcomes& seen, std::size_t cancels,
                          const std::string& path, std::size_t size) {
  std::mt19937_64 dice(seed);
  file source = co_await file::open(path);
  std::vector<std::byte> room(64);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cancels; ++i) {
    const std::size_t offset = dice() % (size - room.size());
    const std::size_t n = co_await storm_once(at, dice, seen, read_file_at(source, room, offset));
    for (std::size_t k = 0; k < n; ++k) wrong += room[k] != nth(offset + k) ? 1U : 0U;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(cancel_storm, each_operation_has_one_outcome_and_no_memory_of_a_call_goes_before_its_packet) {
  lent_memory books;
  outcomes seen;
  const std::size_t wanted = cancels_wanted();
  std::mt19937_64 dice(tandem::test::stress_seed());
  {
    const tandem::test::temporary_folder folder;
    constexpr std::size_t size = 100'000;
    std::vector<std::byte> whole(size);
    for (std::size_t i = 0; i < size; ++i) whole[i] = nth(i);
    tandem::test::put(folder / "f", whole);
    homes at;
    at.rt.run([](homes& h, std::mt19937_64& random, outcomes& o, std::size_t each,
                 std::string path) -> task<void> {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 2; ++i) {
          scope.spawn(storm_of_sockets(h, random(), o, each));
          scope.spawn(storm_of_pipes(h, random(), o, each / 2));
          scope.spawn(storm_of_files(h, random(), o, each / 2, path, size));
        }
        co_return;
      });
    }(at, dice, seen, wanted / 4, folder / "f"));
  }
  EXPECT_EQ(seen.begun, wanted);
  EXPECT_EQ(seen.done + seen.cancelled, wanted);
  EXPECT_EQ(seen.failed, 0U);
  EXPECT_GT(seen.done, 0U);
  EXPECT_GT(seen.cancelled, 0U);
  std::printf("%zu done, %zu cancelled\n", seen.done.load(), seen.cancelled.load());
  books.expect_all_returned();
}

}  // namespace
