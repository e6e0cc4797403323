// connection_source.hpp: what a server asks of a listener and of its handlers, whatever their types.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <tandem/executor.hpp>
#include <tandem/io/detail/adapted_call.hpp>
#include <tandem/io/detail/erased_awaiter.hpp>
#include <tandem/io/detail/frame_cache.hpp>
#include <tandem/io/detail/thread_executor_of.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/listener.hpp>
#include <tandem/io/serve_options.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::detail {

/// An accept_awaiter whose connection is left where the source keeps it.
class kept_accept {
 public:
  kept_accept(accept_awaiter&& accept, std::optional<tcp_stream>& room) noexcept
      : accept_(std::move(accept)), room_(&room) {}

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return accept_.await_suspend(self);
  }
  bool was_stopped() const noexcept { return accept_.was_stopped(); }
  void await_resume() { room_->emplace(accept_.await_resume()); }
  result<void> await_resume_result() {
    result<tcp_stream> accepted = accept_.await_resume_result();
    if (!accepted) return accepted.error();
    room_->emplace(std::move(accepted.value()));
    return {};
  }

 private:
  accept_awaiter accept_;
  std::optional<tcp_stream>* room_;
};

using erased_accept = erased_awaiter<kept_accept, void>;

/// One listener of a server. It keeps the connection that it has accepted last until that is
/// handled or dropped.
///
/// @thread_safety  by the loop that accepts from it
class TANDEM_IO_API connection_source {
 public:
  connection_source() noexcept = default;
  connection_source(const connection_source&) = delete;
  connection_source& operator=(const connection_source&) = delete;
  virtual ~connection_source();

  /// @returns  null: no executor of its own, or not open
  virtual tandem::executor* home() = 0;
  virtual erased_accept accept() noexcept = 0;

  // Of the connection that was accepted.
  /// @returns  null: no executor of its own
  virtual tandem::executor* connection_home() = 0;
  /// The handler's task, which has the connection. @throws what the handler throws
  virtual task<void> handle(const std::stop_token& draining) = 0;
  virtual task<void> handle_over_limit() = 0;
  virtual bool has_over_limit() const noexcept = 0;
  /// Closes it; harmless if it is gone.
  virtual void drop() noexcept = 0;
};

/// Shared by the listeners of a server.
template <class Stream, class Handler>
class handlers_of {
 public:
  template <class Given>
  handlers_of(Given&& given, std::function<task<void>(Stream)>&& beyond)
      : over_limit(std::move(beyond)), handler_(std::forward<Given>(given)) {}

  task<void> handle(Stream&& stream, const std::stop_token& draining) {
    if constexpr (std::is_invocable_r_v<task<void>, Handler&, Stream, std::stop_token>) {
      return std::invoke(handler_, std::move(stream), draining);
    } else {
      return std::invoke(handler_, std::move(stream));
    }
  }

  const std::function<task<void>(Stream)> over_limit;

 private:
  Handler handler_;
};

template <class Listener, class Handler>
class source_of final : public connection_source {
 public:
  using stream = accepted_stream_t<Listener>;
  using handlers = handlers_of<stream, Handler>;

  source_of(Listener&& listener, std::shared_ptr<handlers> shared)
      : listener_(std::move(listener)), handlers_(std::move(shared)) {}

  tandem::executor* home() override { return thread_executor_of(listener_); }
  erased_accept accept() noexcept override {
    if constexpr (is_tandems) {
      return {std::in_place,
              [this]() noexcept { return kept_accept(listener_.accept(), accepted_); }};
    } else {
      return erased_accept(adapted_request(&source_of::begin_accept, this, memory_));
    }
  }

  tandem::executor* connection_home() override { return thread_executor_of(*accepted_); }
  task<void> handle(const std::stop_token& draining) override {
    return handlers_->handle(take(), draining);
  }
  task<void> handle_over_limit() override { return handlers_->over_limit(take()); }
  bool has_over_limit() const noexcept override { return handlers_->over_limit != nullptr; }
  void drop() noexcept override { accepted_.reset(); }

 private:
  /// A listener of somebody's own that gives tandem's awaiter may throw before.
  static constexpr bool is_tandems = requires(Listener& of) {
    { of.accept() } noexcept -> std::same_as<accept_awaiter>;
  };

  stream take() {
    stream taken = std::move(*accepted_);
    accepted_.reset();
    return taken;
  }
  static tandem::detail::promise_base& begin_accept(void* self, void* /*given*/) {
    auto& of = *static_cast<source_of*>(self);
    return keep_accepted(of.memory_, of.listener_, of.accepted_).release();
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"  // as in adapted_call.hpp
#endif
  static adapted_call<void> keep_accepted(frame_cache& /*memory*/, Listener& listener,
                                          std::optional<stream>& room) {
    room.emplace(co_await listener.accept());
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  Listener listener_;
  const std::shared_ptr<handlers> handlers_;
  std::optional<stream> accepted_;
  frame_cache memory_;
};

/// @param handlers  kept until the end, longer than the sources
TANDEM_IO_API task<void> serve_connections(std::vector<std::unique_ptr<connection_source>> sources,
                                           std::shared_ptr<const void> handlers,
                                           serve_settings settings, std::source_location where);

}  // namespace tandem::inline v0::io::detail
