// terminal_cases.cpp: the rows of what other processes use, too.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <cstddef>
#include <tandem/io/shared_streams.hpp>
#include <thread>
#include <vector>

#include "io_case.hpp"
#include "plain_pair.hpp"

namespace tandem::registry {
namespace terminal_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io_rows::io_case;

/// No byte is lost.
class shared_read_case : public io_case {
 public:
  static constexpr std::string_view name = "shared_input::read";
  using awaiters = covers<io::shared_transfer_awaiter, io::detail::shared_wait>;

  task<void> begin() {
    input_ = io::shared_input::of(pipe_.first());
    co_return;
  }
  auto make() { return (fails_ ? closed_ : input_).read(room_); }
  void complete() {
    if (fails_) return;
    test::put_plain(pipe_.second(), "x");
    ++sent_;
  }
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    read_ += bytes;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && read_ < sent_) (void)took(co_await input_.read(room_));
    input_.close();
  }

 private:
  test::plain_pair pipe_ = test::plain_pair::pipe();
  io::shared_input input_;
  io::shared_input closed_;
  std::array<std::byte, 16> room_{};
  std::atomic<std::size_t> sent_{0};
  std::size_t read_ = 0;
};

/// More than a pipe takes without a reader, who begins when the case is completed.
class shared_write_all_case : public io_case {
 public:
  static constexpr std::string_view name = "shared_output::write_all";
  using awaiters = covers<io::shared_write_all_awaiter>;
  static constexpr on_stop during = on_stop::may_end;

  ~shared_write_all_case() {
    if (reader_.joinable()) reader_.join();
  }
  task<void> begin() {
    output_ = io::shared_output::of(pipe_.second());
    pipe_.close_second();
    co_return;
  }
  auto make() { return output_.write_all(data_); }
  void complete() {
    if (started_.exchange(true)) return;
    if (fails_) return pipe_.close_first();
    reader_ = std::thread([this] {
      constexpr std::size_t most = 65536;
      for (std::size_t got = most; got == most;) {
        got = test::take_plain(pipe_.first(), most).size();
        received_ += got;
      }
    });
  }
  ended took() {
    written_ += data_.size();
    return ended::returned;
  }
  task<void> end() {
    complete();
    output_.close();
    if (reader_.joinable()) reader_.join();
    EXPECT_TRUE(fails_ || received_ >= written_);
    co_return;
  }

 private:
  test::plain_pair pipe_ = test::plain_pair::pipe();
  io::shared_output output_;
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{1} << 20U);
  std::size_t written_ = 0;
  std::atomic<bool> started_{false};
  std::thread reader_;
  std::size_t received_ = 0;
};

using cases = ::testing::Types<shared_read_case, shared_write_all_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(terminal, awaitable, cases, case_names);

}  // namespace terminal_rows
}  // namespace tandem::registry
