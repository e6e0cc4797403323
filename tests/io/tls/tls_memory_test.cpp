// tls_memory_test.cpp: what an idle encrypted connection costs beside what OpenSSL itself keeps for it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <malloc.h>
#include <openssl/crypto.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <tandem/detail/frame_idle.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <utility>

#include "io/tls/many_descriptors.hpp"
#include "io/tls/tls_support.hpp"
#include "sanitized.hpp"
#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::tls_stream;
using tandem::test::test_runtime;
using tandem::test::tls_pair;

namespace tls = tandem::io::tls;

/// What OpenSSL has from malloc, with what malloc adds to each block.
class openssl_memory {
 public:
  static std::size_t bytes() { return held_; }
  static bool counts() { return counts_; }

 private:
  static std::size_t cost(void* block) {
    return block == nullptr ? 0 : ::malloc_usable_size(block) + sizeof(std::size_t);
  }
  static void* counted(void* block) {
    held_ += cost(block);
    return block;
  }
  static void* get(std::size_t bytes, const char* /*file*/, int /*line*/) {
    return counted(std::malloc(bytes));  // NOLINT: malloc is what is counted
  }
  static void* resize(void* old, std::size_t bytes, const char* /*file*/, int /*line*/) {
    held_ -= cost(old);
    return counted(std::realloc(old, bytes));  // NOLINT: as above
  }
  static void give_back(void* block, const char* /*file*/, int /*line*/) {
    held_ -= cost(block);
    std::free(block);  // NOLINT: as above
  }

  inline static std::atomic<std::size_t> held_{0};
  // Before main: it works only until OpenSSL has asked for memory.
  inline static const bool counts_ = CRYPTO_set_mem_functions(&get, &resize, &give_back) == 1;
};

/// Of the process: from malloc, and mapped for frames.
std::size_t bytes_in_use() {
  return tandem::test::allocated_bytes() + tandem::detail::count_frame_store().mapped_bytes;
}

task<void> wait_for_more(tls_stream& from, std::atomic<int>& waiting) {
  std::array<std::byte, 32> room;
  ++waiting;
  const std::size_t n = co_await from.read(room);
  EXPECT_EQ(n, 0U);
}

constexpr std::size_t pairs = 2000;

class cost {
 public:
  double beside = 0;  // bytes of an end
  double openssl = 0;
};

/// Makes pairs of connections that have talked, each end with a task that waits to read.
task<void> make_idle_pairs(std::deque<tls_pair>& all, std::size_t count, tandem::task_scope& scope,
                           std::atomic<int>& waiting) {
  static const tls::client_context client(tandem::test::trusting());
  static const tls::server_context server(tandem::test::served_by());
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(co_await tandem::test::make_tls_pair(client, server));
    co_await tandem::test::expect_talks(all.back());
    scope.spawn(wait_for_more(all.back().client, waiting));
    scope.spawn(wait_for_more(all.back().server, waiting));
    const int wanted = static_cast<int>(2 * all.size());
    while (waiting < wanted) co_await tandem::sleep_for(50us);
  }
}

task<cost> cost_of_idle_ends() {
  std::deque<tls_pair> all;
  std::atomic<int> waiting = 0;
  cost found;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    co_await make_idle_pairs(all, 100, scope, waiting);  // what is there once for all
    const std::size_t openssl_before = openssl_memory::bytes();
    const std::size_t before = bytes_in_use();
    co_await make_idle_pairs(all, pairs, scope, waiting);
    const std::size_t openssl = openssl_memory::bytes() - openssl_before;
    const std::size_t in_all = bytes_in_use() - before;
    found.openssl = static_cast<double>(openssl) / (2.0 * pairs);
    found.beside = (static_cast<double>(in_all) - static_cast<double>(openssl)) / (2.0 * pairs);
    for (tls_pair& each : all) {
      each.client.shutdown();
      each.server.shutdown();
    }
  });
  co_return found;
}

TEST(tls_memory, an_idle_connection_costs_at_most_six_kibibytes_beside_openssl) {
  if (tandem::test::sanitized) GTEST_SKIP() << "memory of a sanitized build is not the library's";
  ASSERT_TRUE(openssl_memory::counts());
  ASSERT_GT(tandem::test::allow_many_descriptors(), 2 * pairs + 400) << "RLIMIT_NOFILE is too low";
  test_runtime rt;
  (void)tandem::io::install(*rt, tandem::test::steady_threads());
  const cost found = rt.run(cost_of_idle_ends());
  std::printf("an idle end: %.0f bytes beside OpenSSL's %.0f\n", found.beside, found.openssl);
  EXPECT_LE(found.beside, 6 * 1024.0);
}

}  // namespace
