// backend_rows_test.cpp: each backend does what the table of operations says of each row.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <tandem/io/detail/datagram.hpp>
#include <tandem/io/detail/local_message.hpp>
#include <vector>

#include "backend/backend.hpp"
#include "io/support/udp_socket.hpp"
#include "required.hpp"

namespace {

using namespace tandem::io::detail;
using tandem::io::backend;
using tandem::io::io_backend;
using tandem::io::native_descriptor;
using tandem::io::submit_answer;
using clock = std::chrono::steady_clock;

/// Of what only other systems have.
bool is_shared(const operation_row& row) {
  return row.kind == operation_kind::read_shared || row.kind == operation_kind::write_shared ||
         row.kind == operation_kind::write_all_shared;
}

/// The call on it would wait, if it did: an end of a pipe is not to.
bool is_of_pipes(const operation_row& row) {
  return row.kind == operation_kind::read_pipe || row.kind == operation_kind::write_pipe ||
         row.kind == operation_kind::write_all_pipe;
}

/// A descriptor that is not ready yet, and how it becomes so.
class not_ready {
 public:
  explicit not_ready(const operation_row& row) {
    if (row.kind == operation_kind::accept) {
      listen();
    } else if (row.waits_for == direction::read) {
      ours_ = tandem::test::open_udp(tandem::io::address_family::ipv4, port_);
    } else {
      fill();
    }
    if (is_of_pipes(row)) tandem::test::set_blocking(ours_, false);
  }
  not_ready(const not_ready&) = delete;
  not_ready& operator=(const not_ready&) = delete;
  ~not_ready() {
    tandem::test::close_plain(ours_);
    if (peer_ != tandem::io::no_descriptor) tandem::test::close_plain(peer_);
  }

  native_descriptor get() const noexcept { return ours_; }
  void become_ready() {
    if (listens_) {
      peer_ = tandem::test::open_plain(tandem::test::socket_kind::stream_v4);
      EXPECT_EQ(tandem::test::connect_plain(peer_, port_), std::errc{});
    } else if (port_ != 0) {
      tandem::test::send_plainly(ours_, port_, std::as_bytes(std::span("x")));
    } else {
      tandem::test::drain_plain(peer_, filled_);
    }
  }

 private:
  void listen() {
    ours_ = tandem::test::listening_plain(port_, 1);
    tandem::test::make_like_ours(ours_);
    listens_ = true;
  }
  void fill() {
    const auto ends = tandem::test::connected_plain(false);
    ours_ = ends[0];
    peer_ = ends[1];
    filled_ = tandem::test::fill_plain(ours_);
    tandem::test::set_blocking(ours_, true);
    tandem::test::make_like_ours(ours_);
  }

  native_descriptor ours_ = tandem::io::no_descriptor;
  native_descriptor peer_ = tandem::io::no_descriptor;
  std::ptrdiff_t filled_ = 0;
  std::uint16_t port_ = 0;
  bool listens_ = false;
};

/// One operation of a kind, with what it needs.
class one_operation {
 public:
  one_operation(const operation_row& row, native_descriptor descriptor)
      : window_(std::span<const std::span<std::byte>>(list_)),
        datagram_(room_.data(), room_.size()),
        message_(std::span(room_), 0),
        operation_(row.kind, room_.data(), room_.size()) {
    operation_.aim(nullptr, descriptor);
    if (row.buffer == buffer_form::window) operation_.aim_at(window_);
    if (row.buffer == buffer_form::datagram) operation_.aim_at(datagram_);
    if (row.buffer == buffer_form::batch) operation_.aim_at(batch_);
    if (row.buffer == buffer_form::message) operation_.aim_at(message_);
  }
  operation& get() noexcept { return operation_; }

 private:
  std::array<std::byte, 16> room_{};
  std::array<std::span<std::byte>, 2> list_{std::span(room_).first(1), std::span(room_).subspan(1)};
  segment_window window_;
  datagram datagram_;
  datagram_batch batch_;
  local_message message_;
  operation operation_;
};

/// Of which rows a wait can be brought about here.
bool can_be_made_to_wait(const operation_row& row) {
  return row.waits_for != direction::none &&
         row.kind != operation_kind::connect &&  // needs a peer that takes its time
         row.kind != operation_kind::send_to &&  // loopback takes it, or drops it
         row.buffer != buffer_form::train && row.buffer != buffer_form::list &&  // likewise
         row.buffer != buffer_form::other &&            // needs a file, or a pipe: tests/io/copy
         row.kind != operation_kind::send_zero_copy &&  // refused here: zero_copy_entry_test.cpp
         ((row.buffer != buffer_form::message && !is_of_pipes(row) && !is_shared(row) &&
           row.kind != operation_kind::wait_process) ||
          !tandem::io::has_backend(io_backend::iocp));
}

class backend_rows : public ::testing::TestWithParam<io_backend> {
 protected:
  void SetUp() override {
    tandem::io::completion_options options;
    options.backend = GetParam();
    try {
      backend_ = tandem::io::make_backend(options);
    } catch (const std::system_error& refused) {
      if (tandem::test::every_test_is_required() || !tandem::io::is_refusal(refused.code())) throw;
      GTEST_SKIP() << refused.what();
    }
  }

  /// What ends, after as many waits as it takes.
  std::vector<operation*> next_ended() {
    std::vector<operation*> found;
    while (found.empty()) {
      backend_->wait(clock::time_point::max());
      backend_->reap(
          [](void* into, operation& each) noexcept {
            static_cast<std::vector<operation*>*>(into)->push_back(&each);
          },
          &found);
    }
    return found;
  }

  std::unique_ptr<backend> backend_;
};

using list = std::vector<operation*>;

TEST_P(backend_rows, what_waits_is_ended_by_a_cancel) {
  for (const operation_row& row : operation_rows) {
    if (!can_be_made_to_wait(row)) continue;
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(row.ends_by_stop);
    const not_ready descriptor(row);
    one_operation one(row, descriptor.get());
    ASSERT_EQ(backend_->submit(one.get()), submit_answer::pending);
    backend_->cancel(one.get());
    EXPECT_EQ(next_ended(), list{&one.get()});
    EXPECT_EQ(one.get().outcome(), -ECANCELED);
  }
}

TEST_P(backend_rows, what_waits_ends_when_its_descriptor_is_ready_for_it) {
  for (const operation_row& row : operation_rows) {
    if (!can_be_made_to_wait(row)) continue;
    SCOPED_TRACE(row.name);
    not_ready descriptor(row);
    one_operation one(row, descriptor.get());
    ASSERT_EQ(backend_->submit(one.get()), submit_answer::pending);
    backend_->wait(clock::time_point::min());  // it is with the system before that
    descriptor.become_ready();
    EXPECT_EQ(next_ended(), list{&one.get()});
    EXPECT_GE(one.get().outcome(), 0);
    if (row.kind == operation_kind::accept) {
      tandem::test::close_plain(descriptor_of(one.get().outcome()));
    }
  }
}

/// Of this build.
std::vector<io_backend> all_backends() {
  std::vector<io_backend> all;
  for (const io_backend each : {io_backend::uring, io_backend::asio, io_backend::iocp}) {
    if (tandem::io::has_backend(each)) all.push_back(each);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(of, backend_rows, ::testing::ValuesIn(all_backends()), [](const auto& of) {
  switch (of.param) {
    case io_backend::uring: return std::string("uring");
    case io_backend::asio: return std::string("asio");
    default: return std::string("iocp");
  }
});

}  // namespace
