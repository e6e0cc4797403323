// operation_executor.hpp: what can be told of an operation of Asio's before it begins: whose it is, and its executor.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <source_location>
#include <string_view>
#include <tandem/asio/asio_executor.hpp>
#include <tandem/detail/thread_context.hpp>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tandem::inline v0::detail {

/// Calls `use` with what an any_io_executor holds, if that is of a kind that is known here; else with
/// the executor itself.
template <class Flavour, class Executor, class Use>
auto with_held_executor(const Executor& executor, Use use) {
  if constexpr (std::is_same_v<Executor, typename Flavour::any_io_executor>) {
    using plain = typename Flavour::io_context::executor_type;
    using strand_of_plain = typename Flavour::template strand<plain>;
    using strand_of_any = typename Flavour::template strand<Executor>;
    // target<>() itself does not look at the type.
    const std::type_info& held = executor.target_type();
    if (held == typeid(plain)) return use(*executor.template target<plain>());
    if (held == typeid(asio_executor)) return use(*executor.template target<asio_executor>());
    if (held == typeid(strand_of_plain)) return use(*executor.template target<strand_of_plain>());
    if (held == typeid(strand_of_any)) return use(*executor.template target<strand_of_any>());
  }
  return use(executor);
}

/// What can be told from an executor.
struct executor_nature {
  bool is_serial = false;   ///< it runs one thing at a time
  bool is_stopped = false;  ///< it is an io_context's, which is stopped
  bool is_here = false;     ///< this thread runs it
};
template <class Flavour, class Executor>
executor_nature nature_of(const Executor& executor) noexcept {
  return with_held_executor<Flavour>(executor, [](const auto& held) -> executor_nature {
    if constexpr (requires {
                    { held.context() } -> std::same_as<typename Flavour::io_context&>;
                  }) {
      auto& context = held.context();
      const bool is_here = held.running_in_this_thread();
      return {Flavour::is_one_thread(context), !is_here && context.stopped(), is_here};
    } else if constexpr (requires { held.target().is_serial(); }) {
      return {held.target().is_serial(), false, runs_here(held.target())};
    } else if constexpr (requires { held.get_inner_executor(); }) {
      const bool is_here = held.running_in_this_thread();
      return {true, !is_here && nature_of<Flavour>(held.get_inner_executor()).is_stopped, is_here};
    } else {
      return {};
    }
  });
}

/// Finds the executor of the object whose operation that is, in what starts it: adapters of tokens
/// (as_tuple, redirect_error) wrap the initiation; Beast's operations have the object, or a pointer
/// to it, or to what holds it, among their arguments.
template <class T>
constexpr bool has_executor() {
  if constexpr (requires(const T& t) { t.get_executor(); }) {
    return true;
  } else if constexpr (requires(const T& t) { t.initiation_; }) {
    return has_executor<decltype(std::declval<const T&>().initiation_)>();
  } else if constexpr (requires(const T& t) { t->get_executor(); }) {
    return true;
  } else {
    return requires(const T& t) { t->stream().get_executor(); };
  }
}
template <class T>
auto executor_in(const T& t) noexcept {
  if constexpr (requires { t.get_executor(); }) {
    return t.get_executor();
  } else if constexpr (requires { t.initiation_; }) {
    return executor_in(t.initiation_);
  } else if constexpr (requires { t->get_executor(); }) {
    return t->get_executor();
  } else {
    return t->stream().get_executor();
  }
}
template <class Flavour>
auto executor_of_object() noexcept {
  return typename Flavour::system_executor();
}
template <class Flavour, class First, class... Others>
auto executor_of_object(const First& first, const Others&... others) noexcept {
  if constexpr (has_executor<First>()) {
    return executor_in(first);
  } else {
    return executor_of_object<Flavour>(others...);
  }
}

/// Whether an operation has one step: those of the members of Asio's own objects (sockets, timers,
/// acceptors, resolvers, ...) do, and each hangs up one thing that ends it, which Asio guards
/// itself. What starts such a one is a class within the object's, which nothing tells but its name;
/// if the name is another one, the operation is taken to have several.
template <class T>
constexpr std::string_view written_name() {
  const std::string_view text = std::source_location::current().function_name();
  const std::size_t at = text.find("T = ");
  return at == text.npos ? text : text.substr(at + 4);
}
template <class Initiation>
constexpr bool has_one_step() {
  if constexpr (requires(const Initiation& wrapped) { wrapped.initiation_; }) {
    return has_one_step<std::decay_t<decltype(std::declval<const Initiation&>().initiation_)>>();
  } else {
    const std::string_view name = written_name<Initiation>();
    return name.starts_with("asio::basic_") || name.starts_with("boost::asio::basic_");
  }
}

/// Whether the user has bound the operation to an executor, around adapters of the token:
/// bind_executor(strand, as_tuple(use_await)). bind_executor wraps the initiation, too.
template <class T>
constexpr bool is_bound_in() {
  if constexpr (requires(const T& t) { t.initiation_, t.ex_; }) {
    return true;
  } else if constexpr (requires(const T& t) { t.initiation_; }) {
    return is_bound_in<decltype(std::declval<const T&>().initiation_)>();
  } else {
    return false;
  }
}
template <class T>
auto bound_executor_in(const T& t) noexcept {
  if constexpr (requires { t.ex_; }) {
    return t.ex_;
  } else {
    return bound_executor_in(t.initiation_);
  }
}

}  // namespace tandem::inline v0::detail
