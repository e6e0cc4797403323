// any_stream.cpp: holding, moving and dropping a stream of any type.
// SPDX-License-Identifier: MIT
#include <tandem/io/any_stream.hpp>

#include <tandem/io/listener.hpp>

namespace tandem::inline v0::io {

static_assert(byte_stream<tcp_stream> && byte_stream<any_stream>);
static_assert(detail::has_own_awaiters<tcp_stream>);

detail::erased_stream::~erased_stream() = default;

any_stream::any_stream() noexcept : any_stream(tcp_stream()) {}

any_stream::any_stream(any_stream&& other) noexcept { take(other); }

any_stream& any_stream::operator=(any_stream&& other) noexcept {
  any_stream taken(std::move(other));  // first: `other` may lie in the stream that goes
  drop();
  take(taken);
  return *this;
}

void any_stream::take(any_stream& other) noexcept {
  other.stream_->check_idle();
  if (other.is_inside()) {
    stream_ = other.stream_->move_to(room_);
    other.drop();
  } else {
    stream_ = other.stream_;
  }
  other.stream_ = new (other.room_) detail::own_stream<tcp_stream>();
}

void any_stream::drop() noexcept {
  if (is_inside()) {
    stream_->~erased_stream();
  } else {
    delete stream_;
  }
}

}  // namespace tandem::inline v0::io
