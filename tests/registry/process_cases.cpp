// process_cases.cpp: the rows of pipes and processes.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/process.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "children.hpp"
#include "io_case.hpp"
#include "plain_pipes.hpp"

namespace tandem::registry {
namespace process_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io_rows::io_case;

/// A pipe of the system's, of which the case has one end, and the peer, the test's own thread, the
/// other.
class peer_pipe {
 public:
  peer_pipe() {
    const auto made = test::new_plain_pipe();
    for (std::size_t i = 0; i < made.size(); ++i) ends_.at(i) = made.at(i);
  }
  peer_pipe(const peer_pipe&) = delete;
  peer_pipe& operator=(const peer_pipe&) = delete;
  ~peer_pipe() {
    for (std::size_t i = 0; i < ends_.size(); ++i) close(i);
  }
  io::native_descriptor get(std::size_t end) const noexcept { return ends_.at(end); }
  io::native_descriptor take(std::size_t end) noexcept {
    return ends_.at(end).exchange(io::no_descriptor);
  }
  /// Also twice, from any thread.
  void close(std::size_t end) noexcept {
    const io::native_descriptor open = take(end);
    if (open != io::no_descriptor) test::close_plain_pipe(open);
  }

 private:
  std::array<std::atomic<io::native_descriptor>, 2> ends_;
};

constexpr std::size_t reading = 0;
constexpr std::size_t writing = 1;

/// No byte is lost.
class pipe_read_case : public io_case {
 public:
  static constexpr std::string_view name = "pipe_reader::read";
  using awaiters = covers<io::pipe_transfer_awaiter>;

  task<void> begin() {
    reader_ = io::pipe_reader::from_native(pipe_.take(reading));
    co_return;
  }
  auto make() { return (fails_ ? closed_ : reader_).read(room_); }
  void complete() {
    if (fails_) return;
    EXPECT_EQ(test::write_plain_pipe(pipe_.get(writing), io::bytes_of("x")), 1);
    ++sent_;
  }
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    read_ += bytes;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && read_ < sent_) (void)took(co_await reader_.read(room_));
    reader_.close();
  }

 private:
  peer_pipe pipe_;
  io::pipe_reader reader_;
  io::pipe_reader closed_;
  std::array<std::byte, 16> room_{};
  std::atomic<std::size_t> sent_{0};
  std::size_t read_ = 0;
};

/// More than the pipe holds: it waits until the peer reads, or goes.
template <bool All>
class pipe_write_case : public io_case {
 public:
  static constexpr std::string_view name = All ? "pipe_writer::write_all" : "pipe_writer::write";
  static constexpr on_stop during = All ? on_stop::may_end : on_stop::ends;

  ~pipe_write_case() {
    if (peer_.joinable()) peer_.join();
  }
  task<void> begin() {
    writer_ = io::pipe_writer::from_native(pipe_.take(writing));
    if (All) co_return;
    test::fill_plain_pipe(writer_.native_handle());
  }
  auto make() {
    if constexpr (All) {
      return writer_.write_all(data_);
    } else {
      return writer_.write(data_);
    }
  }
  void complete() {
    if (is_complete_.exchange(true)) return;
    if (fails_) return pipe_.close(reading);
    peer_ = std::thread([from = pipe_.get(reading)] {
      std::array<std::byte, 4096> room;
      while (test::read_plain_pipe(from, room) > 0) {}
    });
  }
  using io_case::took;
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    return ended::returned;
  }
  task<void> end() {
    complete();
    writer_.close();
    if (peer_.joinable()) peer_.join();
    co_return;
  }

 private:
  peer_pipe pipe_;
  io::pipe_writer writer_;
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{1} << 20);
  std::atomic<bool> is_complete_{false};
  std::thread peer_;
};

class pipe_write_some_case : public pipe_write_case<false> {
 public:
  static constexpr std::string_view name = "pipe_writer::write";
  using awaiters = covers<io::pipe_transfer_awaiter>;
};
class pipe_write_all_case : public pipe_write_case<true> {
 public:
  static constexpr std::string_view name = "pipe_writer::write_all";
  using awaiters = covers<io::pipe_write_all_awaiter>;
};

/// A program that ends when its input does.
class reading_program : public io_case {
 public:
  void complete() { input_.close(writing); }

 protected:
  static std::vector<std::string> argv() { return test::shell("cat"); }
  io::process_options options() const {
    io::process_options made;
    made.standard_input = io::process_stdio::descriptor(input_.get(reading));
    made.standard_output = io::process_stdio::null();
    return made;
  }

  peer_pipe input_;
};

/// How it has ended is told again and again.
class process_wait_case : public reading_program {
 public:
  static constexpr std::string_view name = "process::wait";
  using awaiters = covers<io::process_wait_awaiter>;

  task<void> begin() { child_ = co_await io::process::start(argv(), options()); }
  auto make() { return (fails_ ? none_ : child_).wait(); }
  ended took(io::process_exit how) {
    EXPECT_TRUE(how.success());
    return ended::returned;
  }
  task<void> end() { (void)co_await child_.end(); }

 private:
  io::process child_;
  io::process none_;
};

/// After it there is no such process.
class with_process_case : public reading_program {
 public:
  static constexpr std::string_view name = "with_process";
  using awaiters = covers<>;

  auto make() {
    auto waits = [this](io::process& child) { return wait_for(child); };
    return io::with_process(argv(), options(), waits);
  }
  ended took(int code) {
    EXPECT_EQ(code, 0);
    return ended::returned;
  }

 private:
  task<int> wait_for(io::process& child, counted /*here*/ = {}) {
    const io::process_exit how = co_await child.wait();
    if (fails_) throw planned_failure();
    co_return how.code();
  }
};

using cases = ::testing::Types<pipe_read_case, pipe_write_some_case, pipe_write_all_case,
                               process_wait_case, with_process_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(processes, awaitable, cases, case_names);

}  // namespace process_rows
}  // namespace tandem::registry
