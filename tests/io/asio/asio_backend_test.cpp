// asio_backend_test.cpp: the Asio backend alone, on this thread, against its contract (backend.hpp).
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using tandem::io::backend;
using tandem::io::submit_answer;
using tandem::io::detail::operation;
using tandem::io::detail::operation_kind;
using clock = std::chrono::steady_clock;

constexpr auto at_once = clock::time_point::min();
constexpr auto for_good = clock::time_point::max();

/// Two connected descriptors.
class ends {
 public:
  static ends of_a_socket() {
    ends made;
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.both_.data()), 0);
    return made;
  }
  static ends of_a_pipe() {
    ends made;
    EXPECT_EQ(::pipe2(made.both_.data(), O_CLOEXEC), 0);
    return made;
  }
  ends(ends&& other) noexcept : both_(std::exchange(other.both_, {-1, -1})) {}
  ends& operator=(ends&&) = delete;
  ~ends() {
    for (const int each : both_) {
      if (each >= 0) ::close(each);
    }
  }
  int ours() const noexcept { return both_[0]; }
  int peer() const noexcept { return both_[1]; }
  void peer_writes(char byte) const { EXPECT_EQ(::write(peer(), &byte, 1), 1); }

 private:
  ends() = default;
  std::array<int, 2> both_{-1, -1};
};

/// One byte, read.
class one_byte {
 public:
  explicit one_byte(int descriptor, operation_kind kind = operation_kind::receive)
      : operation_(kind, &byte_, 1) {
    operation_.aim(nullptr, descriptor);
  }
  operation& get() noexcept { return operation_; }
  char byte() const noexcept { return byte_; }
  int outcome() const noexcept { return operation_.outcome(); }

 private:
  char byte_ = 0;
  operation operation_;
};

class asio_backend : public ::testing::Test {
 protected:
  submit_answer submit(one_byte& one) { return backend_->submit(one.get()); }
  /// What ended, after one wait.
  std::vector<operation*> ended(clock::time_point deadline = for_good) {
    std::vector<operation*> found;
    backend_->wait(deadline);
    const unsigned count = backend_->reap(
        [](void* into, operation& each) noexcept {
          static_cast<std::vector<operation*>*>(into)->push_back(&each);
        },
        &found);
    EXPECT_EQ(count, found.size());
    return found;
  }
  /// Waits as often as it takes; a wait may end for nothing.
  std::vector<operation*> next_ended() {
    std::vector<operation*> found;
    while (found.empty()) found = ended();
    return found;
  }

  std::unique_ptr<backend> backend_ =
      tandem::io::make_asio_backend(tandem::io::completion_options());
};

using list = std::vector<operation*>;

TEST_F(asio_backend, what_is_there_is_taken_at_once) {
  const ends pair = ends::of_a_socket();
  pair.peer_writes('a');
  one_byte read(pair.ours());
  EXPECT_EQ(submit(read), submit_answer::completed_inline);
  EXPECT_EQ(read.outcome(), 1);
  EXPECT_EQ(read.byte(), 'a');
  EXPECT_EQ(ended(at_once), list{});
}

TEST_F(asio_backend, what_comes_later_ends_the_wait_once) {
  const ends pair = ends::of_a_socket();
  one_byte read(pair.ours());
  EXPECT_EQ(submit(read), submit_answer::pending);
  EXPECT_EQ(ended(at_once), list{});
  pair.peer_writes('b');
  EXPECT_EQ(next_ended(), list{&read.get()});
  EXPECT_EQ(read.byte(), 'b');
  pair.peer_writes('c');
  EXPECT_EQ(ended(at_once), list{});
}

TEST_F(asio_backend, those_who_wait_for_one_descriptor_have_their_turns) {
  const ends pair = ends::of_a_socket();
  one_byte first(pair.ours());
  one_byte second(pair.ours());
  EXPECT_EQ(submit(first), submit_answer::pending);
  pair.peer_writes('1');
  EXPECT_EQ(submit(second), submit_answer::pending);  // though there is a byte
  EXPECT_EQ(next_ended(), list{&first.get()});
  pair.peer_writes('2');
  EXPECT_EQ(next_ended(), list{&second.get()});
  EXPECT_EQ(first.byte(), '1');
  EXPECT_EQ(second.byte(), '2');
}

TEST_F(asio_backend, one_descriptor_is_waited_for_in_both_directions) {
  const ends pair = ends::of_a_socket();
  std::vector<std::byte> flood(1U << 20);
  while (::send(pair.ours(), flood.data(), flood.size(), MSG_DONTWAIT) > 0) {}
  one_byte read(pair.ours());
  one_byte write(pair.ours(), operation_kind::send);
  EXPECT_EQ(submit(read), submit_answer::pending);
  EXPECT_EQ(submit(write), submit_answer::pending);
  pair.peer_writes('r');
  EXPECT_EQ(next_ended(), list{&read.get()});
  while (::recv(pair.peer(), flood.data(), flood.size(), MSG_DONTWAIT) > 0) {}
  EXPECT_EQ(next_ended(), list{&write.get()});
  EXPECT_EQ(write.outcome(), 1);
}

TEST_F(asio_backend, a_cancelled_wait_ends_once_and_has_taken_nothing) {
  const ends pair = ends::of_a_socket();
  one_byte read(pair.ours());
  EXPECT_EQ(submit(read), submit_answer::pending);
  pair.peer_writes('k');
  backend_->cancel(read.get());
  EXPECT_EQ(ended(), list{&read.get()});
  EXPECT_EQ(read.outcome(), -ECANCELED);
  EXPECT_EQ(ended(at_once), list{});
  one_byte again(pair.ours());
  EXPECT_EQ(submit(again), submit_answer::completed_inline);
  EXPECT_EQ(again.byte(), 'k');
}

TEST_F(asio_backend, a_cancel_leaves_the_others_of_its_descriptor_waiting) {
  const ends pair = ends::of_a_socket();
  std::array<one_byte, 3> reads{one_byte(pair.ours()), one_byte(pair.ours()),
                                one_byte(pair.ours())};
  for (one_byte& each : reads) EXPECT_EQ(submit(each), submit_answer::pending);
  backend_->cancel(reads[1].get());
  EXPECT_EQ(ended(), list{&reads[1].get()});
  pair.peer_writes('x');
  pair.peer_writes('z');
  EXPECT_EQ(next_ended(), (list{&reads[0].get(), &reads[2].get()}));
  EXPECT_EQ(reads[0].byte(), 'x');
  EXPECT_EQ(reads[2].byte(), 'z');
}

// The owner closes a descriptor without a word to the backend, and the system gives its number away
// again.
TEST_F(asio_backend, a_number_that_belongs_to_another_socket_now_is_waited_for_anew) {
  int number = -1;
  for (int round = 0; round < 10; ++round) {
    const ends pair = ends::of_a_socket();
    if (number < 0) number = pair.ours();
    ASSERT_EQ(pair.ours(), number);
    one_byte read(pair.ours());
    EXPECT_EQ(submit(read), submit_answer::pending);
    if (round % 2 == 0) {
      pair.peer_writes('n');
    } else {
      backend_->cancel(read.get());
    }
    EXPECT_EQ(next_ended(), list{&read.get()});
    EXPECT_EQ(read.outcome(), round % 2 == 0 ? 1 : -ECANCELED);
  }
}

TEST_F(asio_backend, a_wake_before_the_wait_ends_it) {
  backend_->wake();
  EXPECT_EQ(ended(for_good), list{});
}

TEST_F(asio_backend, a_wake_from_another_thread_ends_the_wait_that_has_begun_or_the_next) {
  for (int i = 0; i < 200; ++i) {
    std::jthread waker([this] { backend_->wake(); });
    EXPECT_EQ(ended(for_good), list{});
  }
}

TEST_F(asio_backend, a_wake_hides_no_completion) {
  const ends pair = ends::of_a_socket();
  one_byte read(pair.ours());
  EXPECT_EQ(submit(read), submit_answer::pending);
  pair.peer_writes('w');
  backend_->wake();
  EXPECT_EQ(next_ended(), list{&read.get()});
}

TEST_F(asio_backend, a_wait_ends_at_its_deadline_though_a_later_one_was_set_before) {
  for (const int microseconds : {300, 100, 2000, 50}) {
    backend_->wake();
    EXPECT_EQ(ended(clock::now() + std::chrono::hours(1)), list{});
    const auto deadline = clock::now() + std::chrono::microseconds(microseconds);
    while (clock::now() < deadline) EXPECT_EQ(ended(deadline), list{});
  }
  EXPECT_EQ(ended(clock::now() - std::chrono::seconds(1)), list{});
}

TEST_F(asio_backend, a_blocking_pipe_is_read_without_blocking_and_stays_a_blocking_one) {
  const ends pipe = ends::of_a_pipe();
  one_byte read(pipe.ours(), operation_kind::read_shared);
  EXPECT_EQ(submit(read), submit_answer::pending);
  pipe.peer_writes('p');
  EXPECT_EQ(next_ended(), list{&read.get()});
  EXPECT_EQ(read.byte(), 'p');
  EXPECT_EQ(::fcntl(pipe.ours(), F_GETFL) & O_NONBLOCK, 0);
}

extern "C" void ignore_it(int) noexcept;
extern "C" void ignore_it(int) noexcept {}

// poll() that is interrupted says nothing of the descriptor; a read() after it would block.
TEST_F(asio_backend, an_interruption_is_no_readiness) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = &ignore_it;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  const ends pair = ends::of_a_pipe();
  {
    const std::jthread storm([target = ::pthread_self()](const std::stop_token& stop) {
      while (!stop.stop_requested()) ::pthread_kill(target, SIGUSR1);
    });
    for (int i = 0; i < 20'000; ++i) {
      one_byte read(pair.ours(), operation_kind::read_own);
      const submit_answer answer = submit(read);
      ASSERT_EQ(answer, submit_answer::pending) << read.outcome();
      backend_->cancel(read.get());
      EXPECT_EQ(next_ended(), list{&read.get()});
    }
  }
  EXPECT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(asio_backend, all_who_wait_for_readiness_go_on_and_the_descriptor_keeps_its_mode) {
  const ends pipe = ends::of_a_pipe();
  one_byte first(pipe.ours(), operation_kind::wait_readable);
  one_byte second(pipe.ours(), operation_kind::wait_readable);
  EXPECT_EQ(submit(first), submit_answer::pending);
  EXPECT_EQ(submit(second), submit_answer::pending);
  pipe.peer_writes('q');
  EXPECT_EQ(next_ended(), (list{&first.get(), &second.get()}));
  EXPECT_EQ(first.outcome(), POLLIN);
  EXPECT_EQ(::fcntl(pipe.ours(), F_GETFL) & O_NONBLOCK, 0);
  one_byte write(pipe.peer(), operation_kind::wait_writable);
  EXPECT_EQ(submit(write), submit_answer::completed_inline);
}

// Its owner may close it first and cancel then.
TEST_F(asio_backend, a_wait_that_is_cancelled_gives_up_its_number_at_once) {
  const ends old = ends::of_a_pipe();
  const ends next = ends::of_a_pipe();
  for (const auto kind : {operation_kind::wait_readable, operation_kind::read_own}) {
    one_byte first(old.ours(), kind);
    EXPECT_EQ(submit(first), submit_answer::pending);
    EXPECT_EQ(ended(at_once), list{});
    ASSERT_EQ(::dup3(next.ours(), old.ours(), O_CLOEXEC), old.ours());
    backend_->cancel(first.get());
    one_byte second(old.ours(), kind);
    EXPECT_EQ(submit(second), submit_answer::pending);
    EXPECT_EQ(next_ended(), list{&first.get()});
    EXPECT_EQ(first.outcome(), -ECANCELED);
    next.peer_writes('n');
    EXPECT_EQ(next_ended(), list{&second.get()});
    one_byte rest(old.ours(), operation_kind::read_own);
    (void)submit(rest);
  }
}

TEST_F(asio_backend, a_vanished_peer_ends_the_wait) {
  const ends pipe = ends::of_a_pipe();
  one_byte read(pipe.ours(), operation_kind::read_own);
  {
    const ends pair = ends::of_a_socket();
    ASSERT_EQ(::dup3(pair.peer(), pipe.peer(), O_CLOEXEC),
              pipe.peer());  // the pipe's writer is gone
  }
  EXPECT_EQ(submit(read), submit_answer::completed_inline);
  EXPECT_EQ(read.outcome(), 0);
}

TEST_F(asio_backend, a_closed_descriptor_is_an_error_and_no_wait) {
  one_byte read(1'000'000);
  EXPECT_EQ(submit(read), submit_answer::completed_inline);
  EXPECT_EQ(read.outcome(), -EBADF);
}

TEST_F(asio_backend, a_retry_from_inside_reap_waits_again) {
  const ends pair = ends::of_a_socket();
  one_byte read(pair.ours());
  EXPECT_EQ(submit(read), submit_answer::pending);
  for (int round = 0; round < 3; ++round) {
    pair.peer_writes('r');
    unsigned count = 0;
    while (count == 0) {
      backend_->wait(for_good);
      count = backend_->reap(
          [](void* self, operation& each) noexcept {
            each.state = operation::phase::idle;
            EXPECT_EQ(static_cast<backend*>(self)->submit(each), submit_answer::pending);
          },
          backend_.get());
    }
    EXPECT_EQ(count, 1U);
  }
  backend_->cancel(read.get());
  EXPECT_EQ(ended(), list{&read.get()});
}

TEST_F(asio_backend, waiting_again_allocates_nothing) {
  const ends pair = ends::of_a_socket();
  const auto round = [&](bool cancelled) {
    one_byte read(pair.ours());
    EXPECT_EQ(submit(read), submit_answer::pending);
    cancelled ? backend_->cancel(read.get()) : pair.peer_writes('a');
    unsigned count = 0;
    while (count == 0) {
      backend_->wait(clock::now() + std::chrono::hours(1));
      count = backend_->reap([](void*, operation&) noexcept {}, nullptr);
    }
  };
  for (int i = 0; i < 10; ++i) round(i % 2 == 0);
  const auto before = tandem::test::news();
  for (int i = 0; i < 1000; ++i) round(i % 2 == 0);
  EXPECT_EQ(tandem::test::news(), before);
}

}  // namespace
