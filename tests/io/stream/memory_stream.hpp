// memory_stream.hpp: streams and a listener of a test's own: connections within the process.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tandem/semaphore.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

namespace tandem::test {

/// One direction: a permit for each byte that is there, and one more once it has ended.
class memory_pipe {
 public:
  memory_pipe() { bytes_.reserve(std::size_t{1} << 16); }

  semaphore& there() noexcept { return there_; }
  void give(std::span<const std::byte> bytes) {
    const std::lock_guard guard(mutex_);
    if (ended_) throw std::system_error(std::make_error_code(std::errc::broken_pipe), "write");
    if (taken_ == bytes_.size()) {
      bytes_.clear();
      taken_ = 0;
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    // Under the lock: whoever takes these bytes finds their permits.
    if (!bytes.empty()) there_.release(bytes.size());
  }
  /// pre: the caller has acquired a permit
  std::size_t take(std::span<std::byte> room) {
    const std::lock_guard guard(mutex_);
    const std::size_t count = std::min(room.size(), bytes_.size() - taken_);
    if (count > 1 && !there_.try_acquire(count - 1))
      throw std::logic_error("bytes without permits");
    if (count == 0) there_.release();  // the end stays, or the room was empty
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(taken_), count, room.begin());
    taken_ += count;
    return count;
  }
  void end() {
    {
      const std::lock_guard guard(mutex_);
      if (std::exchange(ended_, true)) return;
    }
    there_.release();
  }

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;
  bool ended_ = false;
  semaphore there_{0};
};

/// Awaiter of memory_stream::read(): so large that no frame around it comes from a free list.
class memory_read {
 public:
  using tandem_awaiter = void;

  memory_read(memory_pipe& pipe, std::span<std::byte> room) noexcept
      : pipe_(&pipe), room_(room), wait_(pipe.there().acquire()) {}

  bool await_ready() { return wait_.await_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return wait_.await_suspend(self);
  }
  std::size_t await_resume() {
    wait_.await_resume();
    return pipe_->take(room_);
  }

 private:
  memory_pipe* pipe_;
  std::span<std::byte> room_;
  semaphore_awaiter wait_;
  [[maybe_unused]] std::array<std::byte, 2000> unused_{};
};

/// Awaiter of memory_stream::write() and write_all(), which do not wait: another library's.
class memory_write {
 public:
  memory_write(memory_pipe& pipe, std::span<const std::byte> bytes) noexcept
      : pipe_(&pipe), bytes_(bytes) {}

  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  std::size_t await_resume() {
    pipe_->give(bytes_);
    return bytes_.size();
  }

 private:
  memory_pipe* pipe_;
  std::span<const std::byte> bytes_;
};

/// One end of a connection. Its write() takes at most 1000 bytes.
class memory_stream {
 public:
  memory_stream(std::shared_ptr<memory_pipe> from, std::shared_ptr<memory_pipe> to) noexcept
      : in_(std::move(from)), out_(std::move(to)) {}
  memory_stream(memory_stream&&) noexcept = default;
  memory_stream& operator=(memory_stream&&) = delete;
  ~memory_stream() {
    if (out_ != nullptr) out_->end();
  }

  memory_read read(std::span<std::byte> room) { return {*in_, room}; }
  memory_write write(std::span<const std::byte> bytes) {
    return {*out_, bytes.first(std::min<std::size_t>(bytes.size(), 1000))};
  }
  memory_write write_all(std::span<const std::byte> bytes) { return {*out_, bytes}; }
  void shutdown() { out_->end(); }
  void close() { out_->end(); }

 private:
  std::shared_ptr<memory_pipe> in_;
  std::shared_ptr<memory_pipe> out_;
};

/// As memory_stream; its operations are tasks, and it says whether it is open.
class task_stream {
 public:
  task_stream(std::shared_ptr<memory_pipe> from, std::shared_ptr<memory_pipe> to) noexcept
      : inner_(std::move(from), std::move(to)) {}

  task<std::size_t> read(std::span<std::byte> room) { co_return co_await inner_.read(room); }
  task<std::size_t> write(std::span<const std::byte> bytes) {
    co_return co_await inner_.write(bytes);
  }
  task<void> write_all(std::span<const std::byte> bytes) { (void)co_await inner_.write_all(bytes); }
  /// Of a list: how often it was called is seen.
  task<void> write_all(std::span<const std::span<const std::byte>> list) {
    ++lists;
    for (const std::span<const std::byte> each : list) (void)co_await inner_.write_all(each);
  }
  void shutdown() { inner_.shutdown(); }
  void close() {
    open_ = false;
    inner_.close();
  }
  bool is_open() const noexcept { return open_; }

  int lists = 0;

 private:
  memory_stream inner_;
  bool open_ = true;
};

/// Two ends of a connection.
template <class Stream>
std::pair<Stream, Stream> make_memory_connection() {
  const auto there = std::make_shared<memory_pipe>();
  const auto back = std::make_shared<memory_pipe>();
  return {Stream(there, back), Stream(back, there)};
}

/// Accepts what connect() makes.
template <class Stream>
class memory_listener {
  class shared;

 public:
  memory_listener() : shared_(std::make_shared<shared>()) {}
  memory_listener(memory_listener&&) noexcept = default;
  memory_listener& operator=(memory_listener&&) = delete;
  ~memory_listener() {
    if (shared_ != nullptr) shared_->end(false);
  }

  /// Whoever makes connections; may outlive the listener.
  class port {
   public:
    /// @throws  std::system_error connection_refused
    Stream connect() const {
      auto both = make_memory_connection<Stream>();
      const std::lock_guard guard(of_->mutex);
      if (of_->ended) {
        throw std::system_error(std::make_error_code(std::errc::connection_refused), "connect");
      }
      of_->waiting.push_back(std::move(both.first));
      of_->there.release();
      return std::move(both.second);
    }
    /// The next accept fails: with an exception of the listener's own, or as of a closed one.
    void fail(bool strangely) const { of_->end(strangely); }

   private:
    friend memory_listener;
    explicit port(std::shared_ptr<shared> of) : of_(std::move(of)) {}
    std::shared_ptr<shared> of_;
  };
  port here() const { return port(shared_); }

  task<Stream> accept() { return accept_from(*shared_); }

 private:
  class shared {
   public:
    void end(bool strangely) {
      const std::lock_guard guard(mutex);
      if (std::exchange(ended, true)) return;
      is_strange = strangely;
      there.release();
    }
    std::mutex mutex;
    semaphore there{0};
    std::deque<Stream> waiting;
    bool ended = false;
    bool is_strange = false;
  };

  static task<Stream> accept_from(shared& of) {
    co_await of.there.acquire();
    const std::lock_guard guard(of.mutex);
    if (of.waiting.empty()) {
      of.there.release();
      if (of.is_strange) throw std::runtime_error("this listener is out of order");
      throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor), "accept");
    }
    Stream first = std::move(of.waiting.front());
    of.waiting.pop_front();
    co_return first;
  }

  std::shared_ptr<shared> shared_;
};

}  // namespace tandem::test
