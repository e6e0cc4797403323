// handshake_home_test.cpp: where the computing of a handshake is done, and where its caller goes on.
// SPDX-License-Identifier: MIT
#include "io/tls/tls_support.hpp"

#include <atomic>
#include <tandem/event.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>

#include "waits.hpp"

namespace {

using tandem::task;
using tandem::io::tls::client_options;
using tandem::io::tls::handshake_home;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::test::make_tls_pair;
using tandem::test::served_by;
using tandem::test::test_runtime;
using tandem::test::tls_pair;
using tandem::test::trusting;

/// The only worker of a runtime, which does nothing else until it is let go. The runtime is ended
/// first: until then the worker may still be about to hear that it may go.
class busy_worker {
 public:
  task<void> keep(test_runtime& rt) {
    auto keeping = rt->spawn([](busy_worker& self) -> task<void> {
      self.is_kept_.set();
      self.may_go_.wait(false);
      co_return;
    }(*this));
    (void)keeping;
    co_await is_kept_.wait();
  }
  void let_go() { may_go_ = true; }

 private:
  tandem::event is_kept_;
  tandem::test::flag may_go_;
};

/// Shakes hands on a completion thread while the only worker is busy.
/// @returns  whether a worker was needed
bool needs_a_worker(handshake_home client_home, handshake_home server_home) {
  busy_worker worker;
  test_runtime rt(1);
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::steady_threads());
  client_options client = trusting();
  client.handshake_on = client_home;
  server_options server = served_by();
  server.handshake_on = server_home;
  std::atomic<bool> is_over{false};
  bool was_needed = false;
  const auto shakes = [&]() -> task<void> {
    tls_pair both = co_await make_tls_pair(client, server_context(server));
    EXPECT_TRUE(pool.thread(0).executor().is_current());
    is_over = true;
  };
  const auto watches = [&]() -> task<void> {
    while (!is_over && rt.workers().stats().queued == 0) co_await tandem::yield();
    was_needed = !is_over;
    worker.let_go();
  };
  rt.run([&]() -> task<void> {
    co_await tandem::resume_on(pool.thread(0).executor());
    co_await worker.keep(rt);
    co_await tandem::when_all(shakes(), watches());
  }());
  return was_needed;
}

TEST(tls_handshake_home, by_default_workers_compute_so_that_no_completion_thread_stands_still) {
  EXPECT_EQ(client_options().handshake_on, handshake_home::workers);
  EXPECT_EQ(server_options().handshake_on, handshake_home::workers);
  EXPECT_TRUE(needs_a_worker(handshake_home::workers, handshake_home::workers));
}

TEST(tls_handshake_home, each_side_has_its_own_option) {
  EXPECT_TRUE(needs_a_worker(handshake_home::workers, handshake_home::caller));
  EXPECT_TRUE(needs_a_worker(handshake_home::caller, handshake_home::workers));
}

TEST(tls_handshake_home, the_caller_computes_where_it_lives_if_the_option_says_so) {
  EXPECT_FALSE(needs_a_worker(handshake_home::caller, handshake_home::caller));
}

}  // namespace
