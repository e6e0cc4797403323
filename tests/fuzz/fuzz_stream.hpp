// fuzz_stream.hpp: a connection within one thread: pieces as they are written, and what becomes of them on the way.
// SPDX-License-Identifier: MIT
//
// For runtimes with a virtual clock, whose tasks all run by one thread: nothing here has a lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <system_error>
#include <tandem/result.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

namespace tandem::test {

enum class pipe_end : std::uint8_t {
  open,    ///< more may come; a reader waits
  ended,   ///< in order: read() yields 0
  broken,  ///< read() throws connection_reset
};

/// One direction: pieces that wait for their reader, at most so many.
class fuzz_pipe {
 public:
  explicit fuzz_pipe(std::size_t most_pieces = 64) : room_(most_pieces) {}

  task<void> give(std::vector<std::byte> piece) {
    if (piece.empty()) co_return;
    co_await room_.acquire();
    if (reader_has_gone_) {
      room_.release();
      throw std::system_error(std::make_error_code(std::errc::broken_pipe), "write");
    }
    pieces_.push_back(std::move(piece));
    there_.release();
  }
  /// After all that was given.
  void end(pipe_end how) {
    if (end_ != pipe_end::open) return;
    end_ = how;
    there_.release();
  }
  task<std::size_t> take(std::span<std::byte> room) {
    if (room.empty()) co_return 0;
    co_await there_.acquire();
    co_return take_now(room).value();
  }
  result<std::size_t> try_take(std::span<std::byte> room) noexcept {
    if (room.empty()) return std::size_t{0};
    if (!there_.try_acquire()) return std::make_error_code(std::errc::operation_would_block);
    return take_now(room);
  }
  void reader_has_gone() {
    if (std::exchange(reader_has_gone_, true)) return;
    room_.release(1);  // whoever waits passes it on
  }

 private:
  /// pre: the caller has a permit of there_
  result<std::size_t> take_now(std::span<std::byte> room) noexcept {
    if (pieces_.empty()) {
      there_.release();  // the end stays
      if (end_ == pipe_end::broken) return std::make_error_code(std::errc::connection_reset);
      return std::size_t{0};
    }
    const std::span<const std::byte> first = std::span(pieces_.front()).subspan(taken_);
    const std::size_t count = std::min(first.size(), room.size());
    std::copy_n(first.begin(), count, room.begin());
    taken_ += count;
    if (taken_ < pieces_.front().size()) {
      there_.release();
      return count;
    }
    pieces_.pop_front();
    taken_ = 0;
    room_.release();
    return count;
  }

  std::deque<std::vector<std::byte>> pieces_;
  std::size_t taken_ = 0;  // of the first piece
  pipe_end end_ = pipe_end::open;
  bool reader_has_gone_ = false;
  semaphore there_{0};  // a permit for each piece, and one for the end
  semaphore room_;      // a permit for each piece that may come
};

/// What lies between a writer and the pipe that its peer reads from: passes flights on, or does not.
class fuzz_wire {
 public:
  explicit fuzz_wire(std::shared_ptr<fuzz_pipe> to) noexcept : to_(std::move(to)) {}
  fuzz_wire(const fuzz_wire&) = delete;
  fuzz_wire& operator=(const fuzz_wire&) = delete;
  virtual ~fuzz_wire() = default;

  virtual task<void> pass(std::vector<std::byte> flight) { return to_->give(std::move(flight)); }
  virtual void end(pipe_end how) { to_->end(how); }

 protected:
  fuzz_pipe& to() noexcept { return *to_; }

 private:
  std::shared_ptr<fuzz_pipe> to_;
};

/// One end of a connection: a byte_stream. Its write() takes at most `most` bytes.
class fuzz_stream {
 public:
  fuzz_stream(std::shared_ptr<fuzz_pipe> from, std::shared_ptr<fuzz_wire> to,
              std::size_t most = 65536) noexcept
      : from_(std::move(from)), to_(std::move(to)), most_(most) {}
  fuzz_stream(fuzz_stream&&) noexcept = default;
  fuzz_stream& operator=(fuzz_stream&&) = delete;
  ~fuzz_stream() { close(); }

  task<std::size_t> read(std::span<std::byte> room) { return from_->take(room); }
  task<std::size_t> write(std::span<const std::byte> bytes) {
    const auto now = bytes.first(std::min(bytes.size(), most_));
    if (to_ == nullptr) fail_closed();
    co_await to_->pass({now.begin(), now.end()});
    co_return now.size();
  }
  task<void> write_all(std::span<const std::byte> bytes) {
    if (to_ == nullptr) fail_closed();
    co_await to_->pass({bytes.begin(), bytes.end()});
  }
  void shutdown() {
    if (to_ == nullptr) fail_closed();
    to_->end(pipe_end::ended);
  }
  void close() {
    if (to_ == nullptr) return;
    to_->end(pipe_end::ended);
    from_->reader_has_gone();
    to_ = nullptr;
  }
  bool is_open() const noexcept { return to_ != nullptr; }

 private:
  [[noreturn]] static void fail_closed() {
    throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor), "fuzz_stream");
  }

  std::shared_ptr<fuzz_pipe> from_;
  std::shared_ptr<fuzz_wire> to_;
  std::size_t most_;
};

/// As above, of the kind that tells what has come without waiting.
class trying_fuzz_stream : public fuzz_stream {
 public:
  trying_fuzz_stream(std::shared_ptr<fuzz_pipe> from, std::shared_ptr<fuzz_wire> to,
                     std::size_t most = 65536) noexcept
      : fuzz_stream(from, std::move(to), most), from_(std::move(from)) {}
  result<std::size_t> try_read(std::span<std::byte> room) noexcept { return from_->try_take(room); }

 private:
  std::shared_ptr<fuzz_pipe> from_;
};

}  // namespace tandem::test
