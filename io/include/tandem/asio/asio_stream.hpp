// asio_stream.hpp: a stream of tandem as an AsyncStream of Asio's.
// SPDX-License-Identifier: MIT
//
// Included by <tandem/asio.hpp> and <tandem/boost_asio.hpp>; one type serves both. Each direction
// has a task, which does what is asked of it, one after the other. Protocol stream_requests:
// io/src/interop/README.md.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/detail/asio_wait.hpp>
#include <tandem/asio/detail/stream_request.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/detail/thread_executor_of.hpp>
#include <tandem/result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/with_stop.hpp>
#include <type_traits>
#include <utility>

namespace boost::beast {
enum class role_type;  // NOLINT: for the overloads that Beast looks for
}

namespace tandem::inline v0 {

namespace detail {

/// What an asio_stream shares with its two tasks.
template <class Stream>
class asio_stream_state : public std::enable_shared_from_this<asio_stream_state<Stream>> {
 public:
  asio_stream_state(Stream&& stream, asio_executor home)
      : stream_(std::move(stream)), home_(std::move(home)) {}

  Stream& stream() noexcept { return stream_; }
  const asio_executor& home() const noexcept { return home_; }
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  /// Any thread. Unless it is taken, the request has to be completed by the caller.
  /// @throws  what spawning the task throws
  request_lane::answer ask(stream_request& asked) {
    const bool reads = asked.what != stream_request::kind::write;
    side& own = reads ? reader_ : writer_;
    if (!own.has_begun.load(std::memory_order_acquire)) begin(own);
    return own.lane.ask(asked);
  }

  /// What the peer has reset has no direction to end.
  void end_writing() noexcept {
    try {
      stream_.shutdown();
    } catch (const std::system_error&) {  // the reads that follow tell
    }
  }

  /// stream_requests/close. Any thread, more than once.
  void close() noexcept {
    const std::lock_guard hold(lock_);
    if (closed_.exchange(true, std::memory_order_acq_rel)) return;
    for (side* each : {&reader_, &writer_}) {
      if (!each->has_begun.load(std::memory_order_relaxed)) {
        (void)each->lane.close();
      } else if (each->runs) {
        (void)each->task.cancel();
      }
    }
    if (running_ == 0) stream_.close();
  }

 private:
  struct side {
    request_lane lane;
    std::atomic<bool> has_begun{false};
    // Under the lock
    join_handle<void> task;
    bool runs = false;  // else a cancelled task would never run, nor close its lane
  };

  static constexpr bool gathers =
      requires(Stream& stream) { stream.write_all(std::span<const std::span<const std::byte>>()); };

  void begin(side& own) {
    const std::lock_guard hold(lock_);
    if (own.has_begun.load(std::memory_order_relaxed) || is_closed()) return;
    executor& home = home_.target();
    own.task = home.owner()->spawn(home, serve(this->shared_from_this(), own));
    ++running_;
    // release: pairs with ask(), which needs no more than the lane.
    own.has_begun.store(true, std::memory_order_release);
  }

  void side_runs(side& own) noexcept {
    const std::lock_guard hold(lock_);
    own.runs = true;
    if (is_closed()) (void)own.task.cancel();
  }

  static task<void> serve(std::shared_ptr<asio_stream_state> self, side& own) {
    self->side_runs(own);
    while (stream_request* const asked = co_await own.lane.next()) {
      // The usual cases make no frame.
      if (asked->is_plain_read()) {
        tell(*asked, co_await as_result(self->stream_.read(asked->room(0))));
      } else if (asked->is_plain_write()) {
        tell(*asked, co_await as_result(self->stream_.write(asked->buffers[0])));
      } else if (gathers && asked->is_gathering_write()) {
        if constexpr (gathers) {
          // All at once, where how much went counts only if all went: a stop of its own needs the
          // count.
          tell_all(*asked, co_await as_result(self->stream_.write_all(asked->all_buffers())));
        }
      } else if (auto transfer = self->transfer(*asked)) {
        tell(*asked, co_await as_result(std::move(transfer)));
      } else {
        asked->complete(make_error_code(std::errc::not_enough_memory), 0);
      }
    }
    if (stream_request* const late = own.lane.close()) late->complete(aborted_code(), 0);
    self->side_ended();
  }

  template <class Count>
  static void tell(stream_request& asked, result<Count> got) noexcept {
    if (got) {
      asked.complete({}, static_cast<std::size_t>(got.value()));
    } else {
      asked.complete(got.error(), 0);
    }
  }
  static void tell_all(stream_request& asked, const result<void>& sent) noexcept {
    if (sent) {
      asked.complete({}, asked.bytes);
    } else {
      asked.complete(sent.error(), 0);
    }
  }
  /// @returns an empty task if there is no memory for it
  task<std::size_t> transfer(stream_request& asked) noexcept {
    try {
      if (!asked.stop) return move_bytes(asked);
      return move_bytes_until(asked.stop->get_token(), move_bytes(asked));
    } catch (...) {
      return {};
    }
  }
  static task<std::size_t> move_bytes_until(std::stop_token token, task<std::size_t> body) {
    co_return co_await with_stop(std::move(token), std::move(body));
  }
  task<std::size_t> move_bytes(stream_request& asked) {
    if (asked.what == stream_request::kind::read) {
      if constexpr (requires { stream_.read(std::span<const std::span<std::byte>>()); }) {
        if (asked.buffer_count > 1) {
          std::array<std::span<std::byte>, stream_request::most_buffers> parts;
          for (std::size_t i = 0; i < asked.buffer_count; ++i) parts[i] = asked.room(i);
          co_return co_await stream_.read(
              std::span<const std::span<std::byte>>(parts.data(), asked.buffer_count));
        }
      }
      co_return co_await stream_.read(asked.room(0));
    }
    if (asked.what == stream_request::kind::drain) {
      std::array<std::byte, 512> thrown_away;
      while (co_await stream_.read(thrown_away) != 0) {}
      co_return 0;
    }
    co_return co_await stream_.write(asked.buffers[0]);
  }

  void side_ended() noexcept {
    const std::lock_guard hold(lock_);
    if (--running_ == 0 && is_closed()) stream_.close();
  }
  static std::error_code aborted_code() noexcept { return make_error_code(stop_reason::user); }

  Stream stream_;
  const asio_executor home_;
  side reader_;
  side writer_;
  std::mutex lock_;
  int running_ = 0;  // under it: tasks that have begun and not ended
  std::atomic<bool> closed_{false};
};

template <class T>
class frame_list_allocator {
 public:
  using value_type = T;
  /// Made of the allocator that it stands for.
  explicit frame_list_allocator(const std::allocator<void>& /*instead*/) noexcept {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 16);
    return static_cast<T*>(allocate_frame(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { free_frame(block, count * sizeof(T)); }
};

/// An operation of Asio's on a stream, with its handler.
template <class Flavour, class Handler>
class stream_operation final : public stream_request {
  using handler_executor = std::decay_t<decltype(Flavour::executor_of(
      std::declval<const Handler&>(), std::declval<const asio_executor&>()))>;
  // At the stream's own executor the stream's tasks are work enough.
  static constexpr bool is_own = std::is_same_v<handler_executor, asio_executor>;
  using working = std::conditional_t<
      is_own, asio_executor,
      std::decay_t<decltype(Flavour::prefer(std::declval<const handler_executor&>(),
                                            Flavour::outstanding_work::tracked))>>;
  using given_allocator =
      std::decay_t<decltype(Flavour::allocator_of(std::declval<const Handler&>()))>;
  // Of a handler without an allocator of its own: the lists of frames.
  using allocator_type = std::conditional_t<
      std::is_same_v<given_allocator, std::allocator<void>>, frame_list_allocator<stream_operation>,
      typename std::allocator_traits<given_allocator>::template rebind_alloc<stream_operation>>;

 public:
  template <class Stream, class Buffers>
  static void start(asio_stream_state<Stream>& state, kind asked, Handler&& handler,
                    const Buffers& given) {
    allocator_type own(Flavour::allocator_of(handler));
    owned made(own);
    made.construct(asked, std::move(handler), state.home());
    stream_operation& self = *made.operation;
    self.take(given);
    if (self.bytes == 0 && asked != kind::drain) {
      made.release().complete_later({}, 0);
      return;
    }
    if (auto slot = Flavour::slot_of(self.handler_); slot.is_connected()) {
      self.stop.emplace();
      slot.template emplace<cancel>(*self.stop);
    }
    switch (state.ask(self)) {
      case request_lane::answer::taken: (void)made.release(); break;
      case request_lane::answer::closed:
        made.release().complete_later(make_error_code(std::errc::bad_file_descriptor), 0);
        break;
      case request_lane::answer::busy:
        made.release().complete_later(make_error_code(std::errc::operation_in_progress), 0);
        break;
    }
  }

  stream_operation(kind asked, Handler&& handler, const asio_executor& home)
      : stream_request(asked), handler_(std::move(handler)), work_(work_at(handler_, home)) {}

  void complete(const std::error_code& code, std::size_t count) noexcept override {
    auto [last, at] = end(code, count);
    // What a handler throws ends the task of the stream, and the process, as of a pool's function.
    Flavour::execute(at, std::move(last));
  }

 private:
  class cancel {
   public:
    explicit cancel(std::stop_source stop) noexcept : stop_(std::move(stop)) {}
    template <class Type>
    void operator()(Type type) noexcept {
      if (type != Type::none) stop_.request_stop();
    }

   private:
    std::stop_source stop_;
  };
  class told {
   public:
    told(Handler&& handler, typename Flavour::error_code code, std::size_t bytes)
        : handler_(std::move(handler)), code_(code), bytes_(bytes) {}
    void operator()() {
      if (auto slot = Flavour::slot_of(handler_); slot.is_connected()) slot.clear();
      std::move(handler_)(code_, bytes_);
    }

   private:
    Handler handler_;
    typename Flavour::error_code code_;
    std::size_t bytes_;
  };
  /// Its memory, and then it, until it is on its way.
  class owned {
   public:
    explicit owned(const allocator_type& own)
        : own_(own), room_(std::allocator_traits<allocator_type>::allocate(own_, 1)) {}
    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;
    ~owned() {
      if (operation != nullptr) std::destroy_at(operation);
      if (room_ != nullptr) std::allocator_traits<allocator_type>::deallocate(own_, room_, 1);
    }
    template <class... Args>
    void construct(Args&&... args) {
      operation = ::new (static_cast<void*>(room_)) stream_operation(std::forward<Args>(args)...);
    }
    stream_operation& release() noexcept {
      room_ = nullptr;
      return *std::exchange(operation, nullptr);
    }
    stream_operation* operation = nullptr;

   private:
    allocator_type own_;
    stream_operation* room_;
  };

  static working work_at(const Handler& handler, const asio_executor& home) {
    if constexpr (is_own) {
      return Flavour::executor_of(handler, home);
    } else {
      return Flavour::prefer(Flavour::executor_of(handler, home),
                             Flavour::outstanding_work::tracked);
    }
  }
  template <class Buffers>
  void take(const Buffers& given) {
    const auto last = Flavour::end_of(given);
    for (auto each = Flavour::begin_of(given); each != last && buffer_count < most_buffers;
         ++each) {
      const typename Flavour::const_buffer one(*each);
      if (one.size() == 0) continue;
      buffers[buffer_count++] = std::span(static_cast<const std::byte*>(one.data()), one.size());
      bytes += one.size();
    }
  }
  std::pair<told, working> end(const std::error_code& code, std::size_t count) noexcept {
    typename Flavour::error_code said;
    if (code) {
      said = Flavour::code_of(code);
    } else if (what == kind::read && count == 0 && bytes != 0) {
      said = Flavour::end();
    }
    allocator_type own(Flavour::allocator_of(handler_));
    std::pair<told, working> both(told(std::move(handler_), said, count), std::move(work_));
    std::destroy_at(this);
    std::allocator_traits<allocator_type>::deallocate(own, this, 1);
    return both;
  }
  void complete_later(const std::error_code& code, std::size_t count) {
    auto [last, at] = end(code, count);
    Flavour::execute_later(at, std::move(last));
  }

  Handler handler_;
  working work_;
};

template <class Flavour, class Stream>
class initiate_on_stream {
 public:
  using executor_type = asio_executor;
  explicit initiate_on_stream(std::shared_ptr<asio_stream_state<Stream>> state) noexcept
      : state_(std::move(state)) {}
  executor_type get_executor() const noexcept { return state_->home(); }
  template <class Handler, class Buffers>
  void operator()(Handler&& handler, stream_request::kind what, const Buffers& buffers) const {
    stream_operation<Flavour, std::decay_t<Handler>>::start(
        *state_, what, std::decay_t<Handler>(std::forward<Handler>(handler)), buffers);
  }

 private:
  std::shared_ptr<asio_stream_state<Stream>> state_;
};

/// Beast's end of a connection: what the peer still sends is read to its end, then the stream is
/// closed.
template <class Flavour, class Stream, class Done>
class end_of_teardown {
 public:
  using executor_type = std::decay_t<decltype(Flavour::executor_of(
      std::declval<const Done&>(), std::declval<const asio_executor&>()))>;
  using allocator_type = decltype(Flavour::allocator_of(std::declval<const Done&>()));
  using cancellation_slot_type = decltype(Flavour::slot_of(std::declval<const Done&>()));

  end_of_teardown(std::shared_ptr<asio_stream_state<Stream>> state, Done done)
      : state_(std::move(state)), done_(std::move(done)) {}

  executor_type get_executor() const noexcept {
    return Flavour::executor_of(done_, state_->home());
  }
  allocator_type get_allocator() const noexcept { return Flavour::allocator_of(done_); }
  cancellation_slot_type get_cancellation_slot() const noexcept { return Flavour::slot_of(done_); }
  void operator()(const typename Flavour::error_code& code, std::size_t /*bytes*/) {
    state_->close();
    std::move(done_)(code);
  }

 private:
  std::shared_ptr<asio_stream_state<Stream>> state_;
  Done done_;
};

/// The one that Beast's names belong to. boost_asio.hpp adds it.
template <class Role>
struct role_flavour {};

/// Which of Asio's namespaces a sequence of buffers belongs to. Each adds its own.
template <class Buffers>
struct buffers_flavour {};

/// @throws  std::logic_error if there is none
template <class Stream>
executor& home_of_stream(Stream& stream) {
  executor* const found = io::detail::thread_executor_of(stream);
  if (found != nullptr) return *found;
  throw std::logic_error(
      "tandem::as_asio_stream: the stream has no thread_executor(), or is not open: name the "
      "executor at which it is to be used: as_asio_stream(stream, runtime.workers())");
}

}  // namespace detail

/// A byte stream of tandem, used through Asio: an AsyncReadStream and AsyncWriteStream, for Beast,
/// asio::ssl, asio::async_read and the like, and for the lowest layer of those.
///
///     beast::websocket::stream<tandem::asio_stream<io::tcp_stream>> ws(
///         tandem::as_asio_stream(std::move(connection)));
///     co_await ws.async_accept(tandem::use_await);
///
/// Its operations run as tasks of the runtime, also if they are started by a thread that no runtime
/// owns; so do handlers without an executor of their own. Destroying it, or close(), ends what is
/// under way as aborted, and then closes the stream.
///
/// @thread_safety  one read and one write at a time, from any thread; everything else by its owner
template <class Stream>
class asio_stream {
  using state = detail::asio_stream_state<Stream>;

 public:
  using executor_type = asio_executor;
  using lowest_layer_type = asio_stream;

  /// @param home  where its operations run; of the runtime of the stream
  /// @throws      std::logic_error if the two are of different runtimes
  asio_stream(Stream stream, executor& home)
      : asio_stream(std::move(stream), asio_executor(home)) {}
  /// As above; the strand is kept as long as it is used.
  asio_stream(Stream stream, const strand& home)
      : asio_stream(std::move(stream), asio_executor(home)) {}
  asio_stream(asio_stream&&) noexcept = default;
  asio_stream& operator=(asio_stream&& other) noexcept {
    if (state_ != nullptr) state_->close();
    state_ = std::move(other.state_);
    return *this;
  }
  ~asio_stream() {
    if (state_ != nullptr) state_->close();
  }

  /// Signature `void(error_code, std::size_t)`, as Asio's; the buffers live until the handler is
  /// called.
  ///
  /// @cancellation  by the token's slot, any type: no byte is lost
  /// @cost          one post if the stream's task waits; no allocation but the handler's, and, with
  ///                a slot, a stop source
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return initiate(detail::stream_request::kind::read, buffers, std::forward<Token>(token));
  }
  /// As above. One buffer is written as far as the stream takes it; several are written all, or, with
  /// a slot, the first of them.
  ///
  /// @cancellation  by the token's slot, any type; the count tells what was written
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return initiate(detail::stream_request::kind::write, buffers, std::forward<Token>(token));
  }

  executor_type get_executor() const noexcept { return state_->home(); }
  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// The stream itself, for what is not offered here. While nothing is under way.
  Stream& stream() noexcept { return state_->stream(); }
  bool is_open() const noexcept { return state_ != nullptr && !state_->is_closed(); }
  /// Ends what is written; reads go on.
  ///
  /// @throws  what the stream's shutdown() throws; std::system_error with bad_file_descriptor if it
  ///          is closed
  void shutdown() {
    if (!is_open()) {
      throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor),
                              "tandem::asio_stream::shutdown: the stream is closed");
    }
    state_->stream().shutdown();
  }
  /// Ends what is under way, and then closes the stream. Later operations fail as bad_descriptor.
  ///
  /// @thread_safety  any thread
  void close() noexcept { state_->close(); }

  // For Beast, which finds them by their arguments
  friend void beast_close_socket(asio_stream& socket) noexcept { socket.close(); }
  template <class Code>
  friend void teardown(boost::beast::role_type /*role*/, asio_stream& socket, Code& code) noexcept {
    socket.close();
    code = {};
  }
  template <class Done>
  friend void async_teardown(boost::beast::role_type role, asio_stream& socket, Done&& done) {
    socket.tear_down(role, std::forward<Done>(done));
  }

  // Implementation
 private:
  asio_stream(Stream&& stream, asio_executor home) {
    executor* const own = io::detail::thread_executor_of(stream);
    if (own != nullptr && own->owner() != home.target().owner()) {
      throw std::logic_error(
          "tandem::as_asio_stream: the stream belongs to another runtime than the executor: give "
          "an executor of the runtime that has opened the stream");
    }
    state_ = std::make_shared<state>(std::move(stream), home);
  }
  template <class Buffers, class Token>
  auto initiate(detail::stream_request::kind what, const Buffers& buffers, Token&& token) {
    using flavour = typename detail::buffers_flavour<Buffers>::type;
    return flavour::template initiate<Token, void(typename flavour::error_code, std::size_t)>(
        detail::initiate_on_stream<flavour, Stream>(state_), token, what, buffers);
  }
  template <class Role, class Done>
  void tear_down(Role role, Done&& done) {
    using flavour = typename detail::role_flavour<Role>::type;
    using handler = detail::end_of_teardown<flavour, Stream, std::decay_t<Done>>;
    if (role == Role::server) state_->end_writing();
    detail::initiate_on_stream<flavour, Stream> start(state_);
    start(handler(state_, std::forward<Done>(done)), detail::stream_request::kind::drain,
          typename flavour::mutable_buffer());
  }

  std::shared_ptr<state> state_;
};

/// Makes an asio_stream of any byte stream that has a thread of its own (a connection of tandem's).
///
/// @throws  std::logic_error if the stream has no executor of its own; std::bad_alloc
template <io::byte_stream Stream>
asio_stream<Stream> as_asio_stream(Stream stream) {
  executor& home = detail::home_of_stream(stream);
  return asio_stream<Stream>(std::move(stream), home);
}
/// As above, at an executor of the same runtime.
///
/// @throws  std::logic_error if it is of another runtime; std::bad_alloc
template <io::byte_stream Stream>
asio_stream<Stream> as_asio_stream(Stream stream, executor& home) {
  return asio_stream<Stream>(std::move(stream), home);
}
/// As above; the strand is kept as long as it is used: timers of a WebSocket call it when the
/// stream is gone.
template <io::byte_stream Stream>
asio_stream<Stream> as_asio_stream(Stream stream, const strand& home) {
  return asio_stream<Stream>(std::move(stream), home);
}

}  // namespace tandem::inline v0
