// splice_cases.cpp: the rows of pipes of the system's, through which bytes go.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/splice_pipe.hpp>

#include "io/support/file_support.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// No byte is lost.
class splice_case : public stream_case {
 public:
  static constexpr std::string_view name = "splice_pipe::fill_from a connection";
  using awaiters = covers<io::splice_awaiter>;

  task<void> begin() {
    co_await stream_case::begin();
    pipe_.emplace();
    rest_.emplace();
    file_ = co_await io::file::open(folder_ / "f", test::new_file());
  }
  auto make() { return (fails_ || pipe_->held() == 0 ? *pipe_ : *rest_).fill_from(stream_); }
  void complete() {
    if (fails_) return peer_.reset();
    peer_.send("xyz");
    sent_ += 3;
  }
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    read_ += bytes;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && read_ < sent_) {
      while (pipe_->held() != 0) (void)co_await pipe_->drain_to(file_, 0);
      (void)took(co_await pipe_->fill_from(stream_));
    }
    stream_.close();
    file_.close();
  }

 private:
  const test::temporary_folder folder_;
  std::optional<io::splice_pipe> pipe_;
  std::optional<io::splice_pipe> rest_;
  io::file file_;
  std::atomic<std::size_t> sent_{0};
  std::size_t read_ = 0;
};

/// Nobody completes it from outside.
class splice_file_case : public io_case {
 public:
  static constexpr std::string_view name = "splice_pipe::fill_from a file";
  using awaiters = covers<io::splice_file_awaiter>;
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  task<void> begin() {
    const std::string path = folder_ / "f";
    test::put(path, io::bytes_of("xyz"));
    file_ = co_await io::file::open(path);
  }
  auto make() {
    pipe_.emplace();
    return pipe_->fill_from(fails_ ? closed_ : file_, 0);
  }
  ended took(std::size_t bytes) {
    EXPECT_EQ(bytes, 3U);
    EXPECT_EQ(pipe_->held(), 3U);
    return ended::returned;
  }
  task<void> end() {
    file_.close();
    co_return;
  }

 private:
  const test::temporary_folder folder_;
  std::optional<io::splice_pipe> pipe_;
  io::file file_;
  io::file closed_;
};

using splice_rows = ::testing::Types<splice_case, splice_file_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(splices, awaitable, splice_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
