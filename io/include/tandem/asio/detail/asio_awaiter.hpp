// asio_awaiter.hpp: the awaiter of one operation of Asio's.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <system_error>
#include <tandem/asio/detail/asio_wait.hpp>
#include <tandem/asio/detail/operation_executor.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/result.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

class no_bound {};
template <class Flavour, class Bound, class Initiation, class Given>
struct find_executor {
  using type = Bound;
};
template <class Flavour, class Initiation, class... Given>
struct find_executor<Flavour, no_bound, Initiation, std::tuple<Given...>> {
  using type = decltype(executor_of_object<Flavour>(std::declval<const Initiation&>(),
                                                    std::declval<const Given&>()...));
};
template <class Flavour, class Bound, class Initiation, class Given>
using executor_of_operation = typename find_executor<Flavour, Bound, Initiation, Given>::type;

/// Awaiter of an operation that was started with use_await.
///
/// @tparam Bound  the executor that the user has bound, or no_bound
template <class Flavour, class Bound, apart_by apart, class Initiation, class Given, class... Args>
class [[nodiscard]] asio_awaiter final
    : private asio_wait<Flavour, executor_of_operation<Flavour, Bound, Initiation, Given>, apart,
                        Args...> {
  using object_executor_type = executor_of_operation<Flavour, Bound, Initiation, Given>;
  using base = asio_wait<Flavour, object_executor_type, apart, Args...>;

 public:
  using tandem_awaiter = void;
  using value_type = typename awaited_value<typename base::values>::type;

  template <class I, class... G>
  explicit asio_awaiter(Bound bound, I&& initiation, G&&... given)
      : bound_(std::move(bound)),
        initiation_(std::forward<I>(initiation)),
        given_(std::forward<G>(given)...) {}
  /// For an awaiter that has not started.
  asio_awaiter(asio_awaiter&& other) noexcept
      : base(std::move(other)),
        bound_(std::move(other.bound_)),
        initiation_(std::move(other.initiation_)),
        given_(std::move(other.given_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    if (this->start(self.promise())) return true;
    if (charge_ready_await()) return false;
    yield_for_budget(self.promise());
    return true;
  }
  value_type await_resume() {
    if (std::exception_ptr failed = this->failure()) std::rethrow_exception(std::move(failed));
    return value();
  }
  result<value_type> await_resume_result() {
    try {
      if (const std::error_code code = this->failure_code()) return code;
      if constexpr (std::is_void_v<value_type>) {
        return {};
      } else {
        return result<value_type>(std::in_place, value());
      }
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  value_type value() {
    if constexpr (std::is_void_v<value_type>) {
      return;
    } else if constexpr (std::tuple_size_v<typename base::values> == 1) {
      return std::get<0>(std::move(this->outcome()));
    } else {
      return std::move(this->outcome());
    }
  }
  object_executor_type object_executor() const override {
    if constexpr (std::is_same_v<Bound, no_bound>) {
      return std::apply(
          [&](const auto&... given) { return executor_of_object<Flavour>(initiation_, given...); },
          given_);
    } else {
      return bound_;
    }
  }
  void initiate(typename base::handler&& done) override {
// Beast gives an int where its operation takes a size.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
    // Executors in it are not to outlive the context, which may go before the task goes on.
    [[maybe_unused]] const Bound with_it(std::move(bound_));
    Initiation now(std::move(initiation_));
    Given moved_in(std::move(given_));
    std::apply([&](auto&&... given) { std::move(now)(std::move(done), std::move(given)...); },
               std::move(moved_in));
#pragma GCC diagnostic pop
  }
  void forget() noexcept override {
    [[maybe_unused]] const Initiation gone(std::move(initiation_));
    [[maybe_unused]] const Given with_it(std::move(given_));
    [[maybe_unused]] const Bound bound(std::move(bound_));
  }

  [[no_unique_address]] Bound bound_;
  Initiation initiation_;
  Given given_;
};

template <class Signature>
struct arguments_of;
template <class R, class... Args>
struct arguments_of<R(Args...)> {
  template <class Flavour, class Bound, apart_by apart, class Initiation, class Given>
  using awaiter = asio_awaiter<Flavour, Bound, apart, Initiation, Given, Args...>;
};
template <class R, class... Args>
struct arguments_of<R(Args...)&> : arguments_of<R(Args...)> {};
template <class R, class... Args>
struct arguments_of<R(Args...) &&> : arguments_of<R(Args...)> {};
template <class R, class... Args>
struct arguments_of<R(Args...) noexcept> : arguments_of<R(Args...)> {};
template <class R, class... Args>
struct arguments_of<R(Args...) & noexcept> : arguments_of<R(Args...)> {};
template <class R, class... Args>
struct arguments_of<R(Args...) && noexcept> : arguments_of<R(Args...)> {};

template <class Flavour, class Signature, apart_by apart, class Bound, class Initiation,
          class... Given>
auto await_asio(Bound bound, Initiation&& initiation, Given&&... given) {
  using awaiter = typename arguments_of<Signature>::template awaiter<
      Flavour, Bound, apart, std::decay_t<Initiation>, std::tuple<std::decay_t<Given>...>>;
  return awaiter(std::move(bound), std::forward<Initiation>(initiation),
                 std::forward<Given>(given)...);
}

}  // namespace tandem::inline v0::detail
