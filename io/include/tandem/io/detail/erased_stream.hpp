// erased_stream.hpp: what an any_stream asks of the stream that it holds, and the two ways to hold one.
// SPDX-License-Identifier: MIT
//
// A stream whose operations have tandem's own awaiters gives just these. Any other is adapted: each
// of its awaitables is awaited by a coroutine, in memory that lies beside the stream.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <system_error>
#include <tandem/executor.hpp>
#include <tandem/io/any_stream_awaiters.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/detail/adapted_call.hpp>
#include <tandem/io/detail/frame_cache.hpp>
#include <tandem/io/detail/thread_executor_of.hpp>
#include <tandem/io/export.hpp>
#include <tandem/result.hpp>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tandem::inline v0::io::detail {

using byte_list = std::span<const std::span<const std::byte>>;

class TANDEM_IO_API erased_stream {
 public:
  erased_stream() noexcept = default;
  erased_stream(const erased_stream&) = delete;
  erased_stream& operator=(const erased_stream&) = delete;
  virtual ~erased_stream();

  virtual any_transfer_awaiter read(std::span<std::byte> buffer) noexcept = 0;
  /// For a stream that cannot tell without waiting: errc::operation_not_supported.
  virtual result<std::size_t> try_read(std::span<std::byte> buffer) noexcept = 0;
  virtual any_transfer_awaiter write(std::span<const std::byte> bytes) noexcept = 0;
  virtual any_write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept = 0;
  virtual any_vectored_write_awaiter write_list(byte_list list) noexcept = 0;
  virtual void shutdown() = 0;
  virtual void close() = 0;
  virtual bool is_open() const = 0;
  virtual tandem::executor* thread_executor() = 0;
  /// @returns  the stream, if it is of this type; else null
  virtual void* target(const std::type_info& type) noexcept = 0;
  /// Of one that is adapted: no operation may be under way. (Others see to that themselves.)
  virtual void check_idle() const noexcept {}
  /// Builds one in `room` out of this one. Only of one that lies in such a room.
  virtual erased_stream* move_to(void* room) noexcept = 0;
};

/// What both ways to hold an S have in common.
template <class S>
class held_stream : public erased_stream {
 public:
  result<std::size_t> try_read(std::span<std::byte> buffer) noexcept final {
    if constexpr (requires {
                    { stream_.try_read(buffer) } noexcept -> std::same_as<result<std::size_t>>;
                  }) {
      return stream_.try_read(buffer);
    } else {
      return std::make_error_code(std::errc::operation_not_supported);
    }
  }
  void shutdown() final { stream_.shutdown(); }
  void close() override {
    is_closed_ = true;
    stream_.close();
  }
  bool is_open() const final {
    if constexpr (says_whether_open<S>) {
      return stream_.is_open();
    } else {
      return !is_closed_;
    }
  }
  tandem::executor* thread_executor() final {
    return is_open() ? thread_executor_of(stream_) : nullptr;
  }
  void* target(const std::type_info& type) noexcept final {
    return type == typeid(S) ? &stream_ : nullptr;
  }

 protected:
  template <class... Given>
  explicit held_stream(Given&&... given) : stream_(std::forward<Given>(given)...) {}

  /// One that takes the place of `other`.
  explicit held_stream(held_stream&& other) noexcept
      : stream_(std::move(other.stream_)), is_closed_(other.is_closed_) {}

  S stream_;

 private:
  struct nothing {
    nothing& operator=(bool) noexcept { return *this; }
  };
  [[no_unique_address]] std::conditional_t<says_whether_open<S>, nothing, bool> is_closed_{};
};

/// Its operations are tandem's own, so there is nothing to adapt.
template <class S>
concept has_own_awaiters = std::is_nothrow_move_constructible_v<S> &&
                           requires(S& stream, std::span<std::byte> buffer,
                                    std::span<const std::byte> bytes, byte_list list) {
                             { stream.read(buffer) } noexcept -> std::same_as<transfer_awaiter>;
                             { stream.write(bytes) } noexcept -> std::same_as<transfer_awaiter>;
                             {
                               stream.write_all(bytes)
                             } noexcept -> std::same_as<write_all_awaiter>;
                             {
                               stream.write_all(list)
                             } noexcept -> std::same_as<vectored_write_awaiter>;
                           };

template <class S>
class own_stream final : public held_stream<S> {
 public:
  template <class... Given>
  explicit own_stream(Given&&... given) : held_stream<S>(std::forward<Given>(given)...) {}
  own_stream(own_stream&& other) noexcept : held_stream<S>(static_cast<held_stream<S>&&>(other)) {}

  any_transfer_awaiter read(std::span<std::byte> buffer) noexcept override {
    return {std::in_place, [&]() noexcept { return this->stream_.read(buffer); }};
  }
  any_transfer_awaiter write(std::span<const std::byte> bytes) noexcept override {
    return {std::in_place, [&]() noexcept { return this->stream_.write(bytes); }};
  }
  any_write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept override {
    return {std::in_place, [&]() noexcept { return this->stream_.write_all(bytes); }};
  }
  any_vectored_write_awaiter write_list(byte_list list) noexcept override {
    return {std::in_place, [&]() noexcept { return this->stream_.write_all(list); }};
  }
  erased_stream* move_to(void* room) noexcept override {
    return new (room) own_stream(std::move(*this));
  }
};

struct read_operation {
  template <class S>
  decltype(auto) operator()(S& stream, std::span<std::byte>& buffer) const {
    return stream.read(buffer);
  }
};
struct write_operation {
  template <class S>
  decltype(auto) operator()(S& stream, std::span<const std::byte>& bytes) const {
    return stream.write(bytes);
  }
};
struct write_all_operation {
  template <class S>
  decltype(auto) operator()(S& stream, std::span<const std::byte>& bytes) const {
    return stream.write_all(bytes);
  }
};
struct write_list_operation {
  template <class S>
    requires requires(S& stream, byte_list list) { stream.write_all(list); }
  decltype(auto) operator()(S& stream, byte_list& list) const {
    return stream.write_all(list);
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"  // as in adapted_call.hpp
#endif
  /// For a stream that takes no lists.
  template <class S>
  task<void> operator()(S& stream, byte_list& list) const {
    for (const std::span<const std::byte> each : list) (void)co_await stream.write_all(each);
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
};

/// One frame at a time for what is read, one for what is written.
template <class S>
class adapted_stream final : public held_stream<S> {
 public:
  template <class... Given>
  explicit adapted_stream(Given&&... given) : held_stream<S>(std::forward<Given>(given)...) {}

  any_transfer_awaiter read(std::span<std::byte> buffer) noexcept override {
    return any_transfer_awaiter(request<std::size_t, read_operation, std::byte>(buffer));
  }
  any_transfer_awaiter write(std::span<const std::byte> bytes) noexcept override {
    return any_transfer_awaiter(request<std::size_t, write_operation, const std::byte>(bytes));
  }
  any_write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept override {
    return any_write_all_awaiter(request<void, write_all_operation, const std::byte>(bytes));
  }
  any_vectored_write_awaiter write_list(byte_list list) noexcept override {
    return any_vectored_write_awaiter(
        request<void, write_list_operation, const std::span<const std::byte>>(list));
  }
  void close() override {
    check_idle();
    held_stream<S>::close();
  }
  void check_idle() const noexcept override {
    taking_.check_idle();
    giving_.check_idle();
  }
  erased_stream* move_to(void* /*room*/) noexcept override { return nullptr; }

 private:
  template <class T, class Operation, class Element>
  adapted_request request(std::span<Element> given) noexcept {
    return {&adapted_stream::begin<T, Operation, Element>, this, side<Operation>(), given};
  }
  template <class T, class Operation, class Element>
  static tandem::detail::promise_base& begin(void* self, void* its_span) {
    auto& of = *static_cast<adapted_stream*>(self);
    auto& given = *std::launder(static_cast<std::span<Element>*>(its_span));
    return frame_of_call<T, Operation>(of.template side<Operation>(), of.stream_, given);
  }
  template <class Operation>
  frame_cache& side() noexcept {
    return std::same_as<Operation, read_operation> ? taking_ : giving_;
  }

  frame_cache taking_;
  frame_cache giving_;
};

}  // namespace tandem::inline v0::io::detail
