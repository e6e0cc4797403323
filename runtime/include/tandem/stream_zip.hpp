// stream_zip.hpp: streams::zip: items of two streams, pair by pair.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class A, class B>
stream<std::pair<A, B>> run_zip(stream<A> first, stream<B> second) {
  stream_cursor<A> a(std::move(first));
  stream_cursor<B> b(std::move(second));
  std::exception_ptr failure;
  try {
    while (auto* const left = co_await a.next()) {
      auto* const right = co_await b.next();
      if (right == nullptr) break;
      std::pair<A, B> both(static_cast<A&&>(*left), static_cast<B&&>(*right));
      const bool goes_on = co_yield pass_item(std::addressof(both));
      if (!goes_on) break;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const bool a_was_first = a.has_ended();
  co_await b.leave();
  co_await a.leave();
  add_failure(failure, a_was_first ? a.conclude() : b.conclude());
  add_failure(failure, a_was_first ? b.conclude() : a.conclude());
  co_await end_with(std::move(failure));
}

}  // namespace detail

namespace streams {

/// Pairs of an item of each, until one of them ends: then the other is left.
///
/// They are asked one after the other, `first` first. Where both take their time, let one run
/// ahead: streams::buffered.
///
/// @returns  a stream of std::pair<A, B>: values are moved into it, references are kept
/// @cost     one frame; an item: four calls
template <class A, class B>
stream<std::pair<A, B>> zip(stream<A> first, stream<B> second) {
  return detail::run_zip(std::move(first), std::move(second));
}

}  // namespace streams
}  // namespace tandem::inline v0
