// parallel_reduce.hpp: combines the items of a range in parallel, in their order.
// SPDX-License-Identifier: MIT
//
// Pieces are folded from the left and joined in order, so `combine` has to be associative, but need
// not be commutative. With a given grain the grouping depends on that and on the size alone, so
// sums of floating-point numbers repeat to the bit; with an automatic one it depends on the clock.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/detail/algorithm_awaiter.hpp>
#include <tandem/detail/fold.hpp>
#include <tandem/detail/item_source.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class Source, class T, class Transform, class Combine>
class reduce_work {
 public:
  static_assert(takes_item<Transform, Source> || takes_piece<Transform, Source>,
                "the transform of parallel_reduce is called as transform(item), or as "
                "transform(first, last) for a piece, from several threads at once: it has to be "
                "callable while const, so a lambda must not be mutable");
  static_assert(
      std::is_invocable_r_v<T, const Combine&, T, T>,
      "combine(T, T) has to yield a T, the type of the identity, and be callable while const");
  static_assert(alignof(T) <= 16 && alignof(Transform) <= 16 && alignof(Combine) <= 16,
                "nothing in a coroutine frame may be aligned over 16 bytes (g++ 12)");
  using result = callable_result_t<Transform, Source>;

  using partial = std::optional<T>;
  static constexpr bool awaits = is_task<result>;
  static constexpr bool yields_values = true;
  static_assert(!awaits || takes_item<Transform, Source>,
                "a transform that returns a task takes one item");

  reduce_work(Source&& source, T&& identity, Transform&& transform, Combine&& combine)
      : source_(std::move(source)),
        identity_(std::move(identity)),
        transform_(std::move(transform)),
        combine_(std::move(combine)) {}

  std::size_t size() const { return source_.size(); }
  void run(partial& sum, std::size_t from, std::size_t to) const {
    piece_callable<Transform> transform = transform_;
    piece_callable<Combine> combine = combine_;
    if constexpr (takes_item<Transform, Source>) {
      if (!sum) sum.emplace(std::invoke(transform, source_.item(from++)));
      T folded = std::move(*sum);  // in registers, where it fits
      if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 16) {
        // Four at a time: each combination need not wait for the one before.
        const auto next = [&] { return T(std::invoke(transform, source_.item(from++))); };
        while (to - from >= 4) {
          const T a = next();
          const T b = next();
          const T ab = std::invoke(combine, a, b);
          const T c = next();
          const T d = next();
          folded = std::invoke(combine, folded,
                               T(std::invoke(combine, ab, T(std::invoke(combine, c, d)))));
        }
      }
      source_.each(from, to, [&](auto&& item) {
        folded = std::invoke(combine, std::move(folded),
                             T(std::invoke(transform, std::forward<decltype(item)>(item))));
      });
      *sum = std::move(folded);
    } else {
      add(sum, std::invoke(transform, source_.at(from), source_.at(to)));
    }
  }
  auto start(std::size_t at) const { return std::invoke(transform_, source_.item(at)); }
  template <class Value>
  void add(partial& sum, Value&& value) const {
    if (sum) {
      *sum = std::invoke(combine_, std::move(*sum), T(std::forward<Value>(value)));
    } else {
      sum.emplace(std::forward<Value>(value));
    }
  }
  void join(partial& sum, partial&& right) const {
    if (right) add(sum, std::move(*right));
  }
  T take(partial&& sum) { return sum ? T(std::move(*sum)) : T(std::move(identity_)); }

 private:
  Source source_;
  T identity_;
  Transform transform_;
  Combine combine_;
};

template <class Source, class T, class Transform, class Combine>
auto make_reduce(Source source, T&& identity, Transform&& transform, Combine&& combine,
                 std::size_t grain) {
  static_assert(safe_in_co_await<Transform&&> && safe_in_co_await<Combine&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto transform = [...]...;), or capture by reference");
  using work = reduce_work<Source, std::decay_t<T>, std::decay_t<Transform>, std::decay_t<Combine>>;
  return algorithm_awaiter<fold<work>>(
      fold<work>(work(std::move(source), std::decay_t<T>(std::forward<T>(identity)),
                      std::decay_t<Transform>(std::forward<Transform>(transform)),
                      std::decay_t<Combine>(std::forward<Combine>(combine))),
                 grain));
}

}  // namespace detail

/// combine(... combine(transform(first), transform(first + 1)) ..., transform(last - 1)), in
/// parallel.
///
///     double squares = co_await tandem::parallel_reduce(
///         samples, 0.0, [](double x) { return x * x; }, std::plus<>());
///
/// @param identity   the result for an empty range; its type is the type of the sum. Moved, never
///                   copied
/// @param transform  called as transform(item), or as transform(first, last) for a piece, from
///                   several threads at once; or returns a task: then items may suspend
/// @param combine    associative; gets its left operand from items before those of the right one
/// @param grain      items of a piece; 0: measured (plain transforms), or 1 (tasks)
/// @returns          the sum, by value; move-only types will do
/// @throws           the first failure by time, after all pieces have ended; pieces that had not
///                   begun by then are left out. operation_cancelled if any was left out because of
///                   a stop
/// @cancellation     noticed between pieces, and by what a transform awaits
/// @resumes_on       the caller's home; the pieces run at the same home
/// @cost             up to some 5 us of work: none; else a fork in some 20 us
template <class First, class Last, class T, class Transform, class Combine>
  requires detail::loop_bound<First> && detail::loop_bound<Last>
auto parallel_reduce(First first, Last last, T&& identity, Transform&& transform, Combine&& combine,
                     std::size_t grain = 0) {
  return detail::make_reduce(detail::make_source(first, last), std::forward<T>(identity),
                             std::forward<Transform>(transform), std::forward<Combine>(combine),
                             grain);
}

/// As above, for what the iterators of [first, last) refer to.
template <std::random_access_iterator Iterator, class T, class Transform, class Combine>
auto parallel_reduce(Iterator first, Iterator last, T&& identity, Transform&& transform,
                     Combine&& combine, std::size_t grain = 0) {
  return detail::make_reduce(detail::make_source(std::move(first), std::move(last)),
                             std::forward<T>(identity), std::forward<Transform>(transform),
                             std::forward<Combine>(combine), grain);
}

/// As above, for the elements of a range, which has to outlive the await: a named one, or a view.
template <detail::shared_out_range Range, class T, class Transform, class Combine>
auto parallel_reduce(Range&& range, T&& identity, Transform&& transform, Combine&& combine,
                     std::size_t grain = 0) {
  return detail::make_reduce(detail::make_range_source(range), std::forward<T>(identity),
                             std::forward<Transform>(transform), std::forward<Combine>(combine),
                             grain);
}

}  // namespace tandem::inline v0
