// stream_operation.hpp: an operation of Asio's on a stream of tandem, and its handler.
// SPDX-License-Identifier: MIT
//
// Protocol stream_requests: io/src/interop/README.md.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <system_error>
#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/detail/asio_stream_state.hpp>
#include <tandem/asio/detail/stream_request.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

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

}  // namespace tandem::inline v0::detail
