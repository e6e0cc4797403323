// stream_adaptor.hpp: what stands behind a | after a stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

template <class T>
class stream;

namespace detail {

/// `apply(stream)` is a stream, or a task. A class with a constructor, not the closure itself: so
/// it may stand as a temporary in a co_await expression.
template <class Apply>
class [[nodiscard]] stream_adaptor {
 public:
  explicit stream_adaptor(Apply&& apply) noexcept(std::is_nothrow_move_constructible_v<Apply>)
      : apply_(std::move(apply)) {}

  template <class T>
  friend auto operator|(stream<T>&& from, stream_adaptor&& stage) {
    return std::move(stage.apply_)(std::move(from));
  }
  template <class T>
  friend auto operator|(stream<T>&& from, const stream_adaptor& stage) {
    Apply copy(stage.apply_);
    return std::move(copy)(std::move(from));
  }

 private:
  Apply apply_;
};

/// What a function of the user's has to be, to stand in an expression with co_await.
template <class F>
constexpr void check_stage_function() {
  static_assert(safe_in_co_await<F>,
                "g++ 12 would destroy this temporary lambda's captures twice if it stood in a "
                "co_await expression: give it a name first, or capture by reference");
}
/// Likewise, of a function that is called with an item.
template <bool IsCallable>
constexpr void check_takes_item() {
  static_assert(IsCallable, "this function is called with one argument, an item of the stream");
}

}  // namespace detail
}  // namespace tandem::inline v0
