// relay.cpp: from one connection to another: by a buffer, and by a pipe where much comes at once.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <tandem/io/copy.hpp>
#include <tandem/io/splice_pipe.hpp>
#include <vector>

namespace tandem::inline v0::io::detail {

namespace {

// copy/choose. A pipe costs two descriptors and a call more for each piece, so it has to pay.
constexpr unsigned full_reads_before = 8;                   // the buffer, one after the other
constexpr std::size_t worthwhile = 64 * std::size_t{1024};  // what a pipe has to bring
constexpr unsigned meagre_fills_before = 8;

class relaying {
 public:
  relaying(socket_stream& from, socket_stream& to, const copy_options& options)
      : from_(&from), to_(&to), progress_(options.progress), buffer_bytes_(options.buffer_bytes) {}

  task<std::uint64_t> run() {
    while (true) {
      std::size_t came = 0;
      if (pipe_) {
        came = co_await by_pipe();
      } else {
        came = co_await by_buffer();
      }
      if (came == 0) co_return copied_;
    }
  }

 private:
  void count(std::size_t bytes) noexcept {
    copied_ += bytes;
    if (progress_ != nullptr) *progress_ += bytes;
  }

  task<std::size_t> by_buffer() {
    if (buffer_.empty()) buffer_.resize(std::max<std::size_t>(buffer_bytes_, 1));
    const std::size_t came = co_await from_->read(buffer_);
    std::span<const std::byte> left(buffer_.data(), came);
    while (!left.empty()) {
      const std::size_t taken = co_await to_->write(left);
      count(taken);
      left = left.subspan(taken);
    }
    full_ = came == buffer_.size() ? full_ + 1 : 0;
    if (full_ == full_reads_before) open_pipe();
    co_return came;
  }

  task<std::size_t> by_pipe() {
    const std::size_t came = co_await pipe_->fill_from(*from_);
    while (pipe_->held() != 0) {
      const std::size_t given = co_await pipe_->drain_to(*to_);
      count(given);
    }
    meagre_ = came < worthwhile ? meagre_ + 1 : 0;
    if (meagre_ == meagre_fills_before && came != 0) close_pipe();
    co_return came;
  }

  void open_pipe() {
    if (has_no_pipes_) return;
    try {
      pipe_.emplace();
    } catch (const std::system_error&) {  // no descriptor is left, or there is no such call
      has_no_pipes_ = true;
      return;
    }
    has_no_pipes_ = pipe_->capacity() < worthwhile;
    if (has_no_pipes_) return close_pipe();
    buffer_ = {};
    meagre_ = 0;
  }
  void close_pipe() noexcept {
    pipe_.reset();
    full_ = 0;
  }

  socket_stream* from_;
  socket_stream* to_;
  std::uint64_t* progress_;
  std::size_t buffer_bytes_;
  std::uint64_t copied_ = 0;
  std::vector<std::byte> buffer_;
  std::optional<splice_pipe> pipe_;
  unsigned full_ = 0;    // reads in a row that filled the buffer
  unsigned meagre_ = 0;  // fills in a row that brought little
  bool has_no_pipes_ = false;
};

}  // namespace

task<std::uint64_t> relay(socket_stream& from, socket_stream& to, copy_options options) {
  relaying state(from, to, options);
  co_return co_await state.run();
}

}  // namespace tandem::inline v0::io::detail
