// parallel_for.hpp: a loop whose items run in parallel.
// SPDX-License-Identifier: MIT
//
// The range is cut into pieces, which are forked (fork_join.hpp); how, and what an automatic grain
// is, stands in detail/partition.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/algorithm_awaiter.hpp>
#include <tandem/detail/fold.hpp>
#include <tandem/detail/item_source.hpp>

namespace tandem::inline v0 {

namespace detail {

/// The sum of a piece that has none.
class no_value {};

template <class Source, class Body>
class for_work {
 public:
  static_assert(
      takes_item<Body, Source> || takes_piece<Body, Source>,
      "the body of parallel_for is called as body(item), or as body(first, last) for a "
      "piece, from several threads at once: it has to be callable while const, so a lambda "
      "must not be mutable");
  static_assert(alignof(Body) <= 16 && alignof(Source) <= 16,
                "nothing in a coroutine frame may be aligned over 16 bytes (g++ 12)");
  using result = callable_result_t<Body, Source>;

  using partial = no_value;
  static constexpr bool awaits = is_task<result>;
  static constexpr bool yields_values = false;
  static_assert(!awaits || takes_item<Body, Source>, "a body that returns a task takes one item");

  for_work(Source&& source, Body&& body) : source_(std::move(source)), body_(std::move(body)) {}

  std::size_t size() const { return source_.size(); }
  void run(no_value&, std::size_t from, std::size_t to) const {
    piece_callable<Body> body = body_;
    if constexpr (takes_item<Body, Source>) {
      source_.each(from, to, [&](auto&& item) {
        (void)std::invoke(body, std::forward<decltype(item)>(item));
      });
    } else {
      (void)std::invoke(body, source_.at(from), source_.at(to));
    }
  }
  auto start(std::size_t at) const { return std::invoke(body_, source_.item(at)); }
  void join(no_value&, no_value&&) const noexcept {}
  void take(no_value&&) const noexcept {}

 private:
  Source source_;
  Body body_;
};

template <class Source, class Body>
auto make_for(Source source, Body&& body, std::size_t grain) {
  static_assert(
      safe_in_co_await<Body&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
      "(auto body = [...]...; co_await parallel_for(..., body);), or capture by reference");
  using work = for_work<Source, std::decay_t<Body>>;
  return algorithm_awaiter<fold<work>>(
      fold<work>(work(std::move(source), std::decay_t<Body>(std::forward<Body>(body))), grain));
}

}  // namespace detail

/// Calls `body` for every integer of [first, last), in parallel; goes on when all calls have ended.
///
///     co_await tandem::parallel_for(0, image.rows(), [&](int row) { sharpen(image, row); });
///     co_await tandem::parallel_for(pixels, [](pixel& p) { p = grey(p); });
///     co_await tandem::parallel_for(0, urls.size(), [&](std::size_t i) -> tandem::task<void> {
///       pages[i] = co_await fetch(urls[i]);
///     });
///
/// @param body     called as body(item) or as body(first, last) for a piece, from several threads
///                 at once; or returns task<void>: then items may suspend. Kept alive until the
///                 end. With g++ 12 a lambda that captures objects with destructors needs a name
/// @param grain    items of a piece, which run one after another; 0: measured (plain bodies), or 1
///                 (tasks: all of them may wait at once; more bounds how many do)
/// @throws         the first failure by time, after all pieces have ended; pieces that had not
///                 begun by then are left out. operation_cancelled if any was left out because of a
///                 stop
/// @cancellation   noticed between pieces, and by what a body awaits
/// @resumes_on     the caller's home; the pieces run at the same home
/// @cost           up to some 5 us of work: none; else a fork in some 20 us. Tasks: two frames an
///                 item
template <class First, class Last, class Body>
  requires detail::loop_bound<First> && detail::loop_bound<Last>
auto parallel_for(First first, Last last, Body&& body, std::size_t grain = 0) {
  return detail::make_for(detail::make_source(first, last), std::forward<Body>(body), grain);
}

/// As above, for what the iterators of [first, last) refer to.
template <std::random_access_iterator Iterator, class Body>
auto parallel_for(Iterator first, Iterator last, Body&& body, std::size_t grain = 0) {
  return detail::make_for(detail::make_source(std::move(first), std::move(last)),
                          std::forward<Body>(body), grain);
}

/// As above, for the elements of a range, which has to outlive the await: a named one, or a view.
template <detail::shared_out_range Range, class Body>
auto parallel_for(Range&& range, Body&& body, std::size_t grain = 0) {
  return detail::make_for(detail::make_range_source(range), std::forward<Body>(body), grain);
}

}  // namespace tandem::inline v0
