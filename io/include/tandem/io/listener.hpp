// listener.hpp: what serve() asks of whatever accepts connections.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <tandem/detail/as_task.hpp>
#include <tandem/io/byte_stream.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io {

/// What the await of a listener's accept() yields.
template <class L>
using accepted_stream_t = tandem::detail::awaited_t<decltype(std::declval<L&>().accept())>;

/// Has accept(), whose await yields the next connection: a byte_stream, by value. An accept that is
/// stopped must have lost no connection. tcp_listener is such; so is a class of one's own:
///
///     class in_memory_listener {
///      public:
///       tandem::task<pipe_end> accept();
///     };
///     static_assert(tandem::io::listener<in_memory_listener>);
///
/// accept() is called by one task at a time. It fails with errc::bad_file_descriptor when there is
/// nothing more to be accepted: see serve(). The destructor ends listening.
/// Optional: `bool is_open() const`; `tandem::executor& thread_executor()`, where it is accepted
/// best.
template <class L>
concept listener = std::move_constructible<L> && requires(L& of) { of.accept(); } &&
                   std::is_object_v<accepted_stream_t<L>> && byte_stream<accepted_stream_t<L>>;

}  // namespace tandem::inline v0::io
