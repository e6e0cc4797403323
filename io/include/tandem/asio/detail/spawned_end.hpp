// spawned_end.hpp: a task of tandem that was spawned into a context of Asio's, and whoever is told of its end.
// SPDX-License-Identifier: MIT
//
// spawn_into() itself is in flavour.ipp, once for each of Asio's namespaces.
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/detail/asio_home.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::detail {

template <class T>
struct spawned_signature {
  static_assert(
      std::default_initializable<T>,
      "spawn_into: the handler of a task that failed gets the exception and a T(), so the "
      "task's value needs a default constructor (return a std::optional of it)");
  using type = void(std::exception_ptr, T);
};
template <>
struct spawned_signature<void> {
  using type = void(std::exception_ptr);
};

template <class T>
struct spawned_outcome {
  std::exception_ptr failure;
  std::conditional_t<std::is_void_v<T>, bool, T> value{};
};

/// The handler, what keeps its executor at work, and the home of the task.
template <class Flavour, class Inner, class T, class Handler>
class spawned_end {
  using handler_executor = std::decay_t<decltype(Flavour::executor_of(
      std::declval<const Handler&>(), std::declval<const Inner&>()))>;
  using working = std::decay_t<decltype(Flavour::prefer(std::declval<const handler_executor&>(),
                                                        Flavour::outstanding_work::tracked))>;

 public:
  /// @param home  null: a task at an executor of tandem
  spawned_end(Handler&& handler, const Inner& inner, foreign_home* home)
      : handler_(std::move(handler)), home_(home) {
    const handler_executor at = Flavour::executor_of(handler_, inner);
    if constexpr (std::is_same_v<handler_executor, Inner>) {
      if (home != nullptr && at == inner) at_home_.emplace(at);
    }
    if (!at_home_) work_.emplace(Flavour::prefer(at, Flavour::outstanding_work::tracked));
    if (home_ != nullptr) home_->hold();
  }
  spawned_end(spawned_end&& other) noexcept
      : handler_(std::move(other.handler_)),
        work_(std::move(other.work_)),
        at_home_(std::move(other.at_home_)),
        home_(std::exchange(other.home_, nullptr)) {}
  spawned_end& operator=(spawned_end&&) = delete;
  ~spawned_end() {
    if (home_ != nullptr) home_->release();
  }

  void tell(spawned_outcome<T>&& outcome) {
    told last(std::move(handler_), std::move(outcome));
    if (!at_home_) {
      Flavour::execute_later(*work_, std::move(last));
      return;
    }
    // A context that is gone calls nobody: the handler is destroyed.
    home_->with_loop([&] { Flavour::execute_later(*at_home_, std::move(last)); });
  }

 private:
  class told {
   public:
    told(Handler&& handler, spawned_outcome<T>&& outcome)
        : handler_(std::move(handler)), outcome_(std::move(outcome)) {}
    void operator()() {
      if (auto slot = Flavour::slot_of(handler_); slot.is_connected()) slot.clear();
      if constexpr (std::is_void_v<T>) {
        std::move(handler_)(std::move(outcome_.failure));
      } else {
        std::move(handler_)(std::move(outcome_.failure), std::move(outcome_.value));
      }
    }

   private:
    Handler handler_;
    spawned_outcome<T> outcome_;
  };

  Handler handler_;
  std::optional<working> work_;              // unless it is called
  std::optional<handler_executor> at_home_;  // in the task's home, which is at work by itself
  foreign_home* home_;
};

template <class T, class End>
task<void> run_and_tell(task<T> body, std::shared_ptr<spawned_stop> stop, End end) {
  stop->begin();
  spawned_outcome<T> outcome;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(body);
    } else {
      outcome.value = co_await std::move(body);
    }
  } catch (...) {
    outcome.failure = std::current_exception();
  }
  end.tell(std::move(outcome));
}

class stop_of_spawned {
 public:
  explicit stop_of_spawned(std::shared_ptr<spawned_stop> stop) noexcept : stop_(std::move(stop)) {}
  template <class CancellationType>
  void operator()(CancellationType type) noexcept {
    if (type != CancellationType::none) stop_->stop(stop_reason::user);
  }

 private:
  std::shared_ptr<spawned_stop> stop_;
};

template <class Flavour, class Inner, class T>
class initiate_spawn {
 public:
  using executor_type = Inner;

  initiate_spawn(runtime& owner, Inner inner) noexcept : owner_(&owner), inner_(std::move(inner)) {}
  executor_type get_executor() const noexcept { return inner_; }

  template <class Handler>
  void operator()(Handler&& given, task<T>&& body) const {
    std::decay_t<Handler> handler(std::forward<Handler>(given));  // an lvalue stays the caller's
    using end = spawned_end<Flavour, Inner, T, std::decay_t<Handler>>;
    auto stop = std::make_shared<spawned_stop>();
    if (auto slot = Flavour::slot_of(handler); slot.is_connected()) {
      slot.template emplace<stop_of_spawned>(stop);
    }
    if constexpr (requires { inner_.target().post(nullptr); }) {
      executor& home = inner_.target();
      stop->know(owner_->spawn(
          home, run_and_tell<T>(std::move(body), stop, end(std::move(handler), inner_, nullptr))));
    } else {
      if (nature_of<Flavour>(inner_).is_stopped) {
        throw std::logic_error(
            "tandem::spawn_into: the io_context is stopped, so the task would never run: keep its "
            "run() going with an executor_work_guard, or call restart() and run() before");
      }
      auto* const home = new asio_home<Flavour, Inner>(*owner_, inner_, stop);
      try {
        stop->know(owner_->spawn(
            *home, run_and_tell<T>(std::move(body), stop, end(std::move(handler), inner_, home))));
      } catch (...) {
        home->release();
        throw;
      }
      home->release();
    }
  }

 private:
  runtime* owner_;
  Inner inner_;
};

}  // namespace tandem::inline v0::detail
