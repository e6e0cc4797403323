// flavour.ipp: one of Asio's two namespaces, as a type for the templates that serve both.
// SPDX-License-Identifier: MIT
//
// Included by asio.hpp and boost_asio.hpp, each with its own
//   TANDEM_ASIO            the namespace
//   TANDEM_ASIO_FLAVOUR    the name of the type
//   TANDEM_ASIO_ERROR      the namespace of error_code

namespace tandem::inline v0::detail {

struct TANDEM_ASIO_FLAVOUR {
  using error_code = ::TANDEM_ASIO_ERROR::error_code;
  using system_error = ::TANDEM_ASIO_ERROR::system_error;
  using execution_context = ::TANDEM_ASIO::execution_context;
  using io_context = ::TANDEM_ASIO::io_context;
  using any_io_executor = ::TANDEM_ASIO::any_io_executor;
  using system_executor = ::TANDEM_ASIO::system_executor;
  using cancellation_slot = ::TANDEM_ASIO::cancellation_slot;
  using cancellation_signal = ::TANDEM_ASIO::cancellation_signal;
  using cancellation_type = ::TANDEM_ASIO::cancellation_type;
  using mutable_buffer = ::TANDEM_ASIO::mutable_buffer;
  using const_buffer = ::TANDEM_ASIO::const_buffer;
  using service = ::TANDEM_ASIO::execution_context::service;
  using service_id = ::TANDEM_ASIO::execution_context::id;
  template <class Executor>
  using strand = ::TANDEM_ASIO::strand<Executor>;
  template <class T, class Default>
  using associated_executor_t = ::TANDEM_ASIO::associated_executor_t<T, Default>;

  // What properties are called.
  using blocking = ::TANDEM_ASIO::execution::blocking_t;
  using relationship = ::TANDEM_ASIO::execution::relationship_t;
  using outstanding_work = ::TANDEM_ASIO::execution::outstanding_work_t;
  using context = ::TANDEM_ASIO::execution::context_t;
  template <class A>
  using allocator = ::TANDEM_ASIO::execution::allocator_t<A>;

  /// Of this namespace: an executor of the other one looks the same, but knows no property of this.
  template <class T>
  static constexpr bool is_executor =
      std::conjunction_v<::TANDEM_ASIO::execution::is_executor<T>,
                         ::TANDEM_ASIO::can_query<T, ::TANDEM_ASIO::execution::context_t>>;

  template <class Executor, class Property>
  static auto prefer(const Executor& executor, const Property& property) {
    return ::TANDEM_ASIO::prefer(executor, property);
  }
  template <class Executor>
  static execution_context& context_of(const Executor& executor) noexcept {
    return ::TANDEM_ASIO::query(executor, ::TANDEM_ASIO::execution::context);
  }
  /// Runs `f` on the executor, at once if that may be.
  template <class Executor, class F>
  static void execute(const Executor& executor, F&& f) {
    ::TANDEM_ASIO::execution::execute(::TANDEM_ASIO::prefer(executor, blocking::possibly),
                                      std::forward<F>(f));
  }
  /// The same, later.
  template <class Executor, class F>
  static void execute_later(const Executor& executor, F&& f) {
    ::TANDEM_ASIO::execution::execute(
        ::TANDEM_ASIO::prefer(::TANDEM_ASIO::require(executor, blocking::never),
                              relationship::fork),
        std::forward<F>(f));
  }
  template <class T, class Default>
  static auto executor_of(const T& object, const Default& otherwise) noexcept {
    return ::TANDEM_ASIO::get_associated_executor(object, otherwise);
  }
  template <class Executor, class Allocator>
  static auto with_allocator(const Executor& executor, const Allocator& own) {
    return ::TANDEM_ASIO::prefer(executor, ::TANDEM_ASIO::execution::allocator(own));
  }
  template <class T>
  static auto allocator_of(const T& object) noexcept {
    return ::TANDEM_ASIO::get_associated_allocator(object);
  }
  template <class T>
  static auto slot_of(const T& object) noexcept {
    return ::TANDEM_ASIO::get_associated_cancellation_slot(object);
  }
  template <class Token, class Signature, class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, Token& token, Args&&... args) {
    return ::TANDEM_ASIO::async_initiate<Token, Signature>(std::forward<Initiation>(initiation),
                                                           token, std::forward<Args>(args)...);
  }
  template <class Service>
  static Service& use_service(execution_context& context) {
    return ::TANDEM_ASIO::use_service<Service>(context);
  }
  template <class Buffers>
  static auto begin_of(const Buffers& buffers) noexcept {
    return ::TANDEM_ASIO::buffer_sequence_begin(buffers);
  }
  template <class Buffers>
  static auto end_of(const Buffers& buffers) noexcept {
    return ::TANDEM_ASIO::buffer_sequence_end(buffers);
  }

  /// A stop: operations take what they know of it.
  static constexpr cancellation_type any_cancellation =
      cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
  static bool is_aborted(const std::error_code& code) noexcept {
    return code == std::error_code(error_code(::TANDEM_ASIO::error::operation_aborted));
  }
  static bool is_end(const std::error_code& code) noexcept {
    return code == std::error_code(error_code(::TANDEM_ASIO::error::eof));
  }
  static error_code aborted() noexcept { return ::TANDEM_ASIO::error::operation_aborted; }
  static error_code end() noexcept { return ::TANDEM_ASIO::error::eof; }
  /// Codes of the operating system are in the system's category, with Asio.
  static error_code code_of(const std::error_code& code) noexcept {
    if (code == std::errc::operation_canceled) return aborted();
    const std::error_code known = io::detail::system_code(code);
    if (known.category() == std::system_category()) {
      return error_code(known.value(), ::TANDEM_ASIO::error::get_system_category());
    }
    return error_code(known);
  }
  template <class Stream, class Buffer, class Token>
  static auto write_all(Stream& stream, const Buffer& buffer, Token&& token) {
    return ::TANDEM_ASIO::async_write(stream, buffer, std::forward<Token>(token));
  }

  /// Whether the user has promised that one thread runs it.
  static bool is_one_thread(io_context& context) noexcept {
    namespace net = ::TANDEM_ASIO;
    return net::use_service<net::detail::io_context_impl>(context).concurrency_hint() == 1;
  }
};

template <class Buffers>
  requires(::TANDEM_ASIO::is_const_buffer_sequence<Buffers>::value)
struct buffers_flavour<Buffers> {
  using type = TANDEM_ASIO_FLAVOUR;
};
template <class Executor>
  requires(::TANDEM_ASIO::can_query<Executor, ::TANDEM_ASIO::execution::context_t>::value)
struct executor_flavour<Executor> {
  using type = TANDEM_ASIO_FLAVOUR;
};
template <class Executor>
inline constexpr bool is_await_token<::TANDEM_ASIO::executor_binder<use_await_t, Executor>> = true;
template <>
struct asio_property<::TANDEM_ASIO::execution::blocking_t::possibly_t> {
  static constexpr asio_request request = asio_request::possibly;
};
template <>
struct asio_property<::TANDEM_ASIO::execution::blocking_t::never_t> {
  static constexpr asio_request request = asio_request::never;
};
template <>
struct asio_property<::TANDEM_ASIO::execution::relationship_t::fork_t> {
  static constexpr asio_request request = asio_request::fork;
};
template <>
struct asio_property<::TANDEM_ASIO::execution::relationship_t::continuation_t> {
  static constexpr asio_request request = asio_request::continuation;
};
template <>
struct asio_property<::TANDEM_ASIO::execution::outstanding_work_t::untracked_t> {
  static constexpr asio_request request = asio_request::untracked;
};
template <>
struct asio_property<::TANDEM_ASIO::execution::outstanding_work_t::tracked_t> {
  static constexpr asio_request request = asio_request::tracked;
};
template <class A>
struct asio_property<::TANDEM_ASIO::execution::allocator_t<A>> {
  static constexpr asio_request request = asio_request::allocator;
};
template <>
struct asio_property<::TANDEM_ASIO::execution::allocator_t<void>> {
  static constexpr asio_request request = asio_request::default_allocator;
};
template <>
struct asio_question<::TANDEM_ASIO::execution::context_t> {
  using flavour = TANDEM_ASIO_FLAVOUR;
  static constexpr bool is_context = true;
};
template <class A>
struct asio_question<::TANDEM_ASIO::execution::allocator_t<A>> {
  using flavour = TANDEM_ASIO_FLAVOUR;
  static constexpr bool is_allocator = true;
};
template <>
struct asio_question<::TANDEM_ASIO::execution::blocking_t> {
  using flavour = TANDEM_ASIO_FLAVOUR;
  static constexpr bool is_blocking = true;
};
template <>
struct asio_question<::TANDEM_ASIO::execution::relationship_t> {
  using flavour = TANDEM_ASIO_FLAVOUR;
  static constexpr bool is_relationship = true;
};
template <>
struct asio_question<::TANDEM_ASIO::execution::outstanding_work_t> {
  using flavour = TANDEM_ASIO_FLAVOUR;
};

// Whether it has that value: without an answer Asio takes the default for all that there is, and asks
// for nothing where it is required.
template <>
struct asio_question<::TANDEM_ASIO::execution::blocking_t::possibly_t>
    : asio_question<::TANDEM_ASIO::execution::blocking_t> {};
template <>
struct asio_question<::TANDEM_ASIO::execution::blocking_t::always_t>
    : asio_question<::TANDEM_ASIO::execution::blocking_t> {};
template <>
struct asio_question<::TANDEM_ASIO::execution::blocking_t::never_t>
    : asio_question<::TANDEM_ASIO::execution::blocking_t> {};
template <>
struct asio_question<::TANDEM_ASIO::execution::relationship_t::fork_t>
    : asio_question<::TANDEM_ASIO::execution::relationship_t> {};
template <>
struct asio_question<::TANDEM_ASIO::execution::relationship_t::continuation_t>
    : asio_question<::TANDEM_ASIO::execution::relationship_t> {};
template <>
struct asio_question<::TANDEM_ASIO::execution::outstanding_work_t::untracked_t>
    : asio_question<::TANDEM_ASIO::execution::outstanding_work_t> {};
template <>
struct asio_question<::TANDEM_ASIO::execution::outstanding_work_t::tracked_t>
    : asio_question<::TANDEM_ASIO::execution::outstanding_work_t> {};

}  // namespace tandem::inline v0::detail

namespace tandem::inline v0 {

/// Runs a task in a context of Asio's: its home is the context, and whoever is told of its end is
/// Asio's completion token.
///
///     tandem::spawn_into(runtime, io, session(std::move(socket)), asio::detached);
///     int answer = tandem::spawn_into(runtime, io, ask(), asio::use_future).get();
///
/// Awaits of objects of that context go on inside their handlers: no thread is changed.
///
/// @param owner    whose task it is; without it that of the calling task
/// @param context  an io_context, a strand, any executor of Asio's; also asio_executor: then the
///                 task lives at that executor of tandem (where both headers are included, as an
///                 any_io_executor of one of them, which says whose the token is)
/// @param token    its signature is `void(std::exception_ptr)`, or `void(std::exception_ptr, T)`.
///                 asio::detached loses a failure of the task: nobody hears of it, no
///                 on_unhandled_exception either
/// @throws         to the initiating function: std::logic_error if the io_context is stopped, or,
///                 without `owner`, outside any task; runtime_stopped
/// @cancellation   through the token's slot, any type: the task is stopped. The destructor of the
///                 context stops its tasks, runs them to their end, and destroys their handlers;
///                 those that are bound to another executor are called
/// @thread_safety  any thread
template <class Executor, class T, class Token>
  requires(detail::TANDEM_ASIO_FLAVOUR::is_executor<Executor>)
auto spawn_into(runtime& owner, const Executor& context, task<T> body, Token&& token) {
  using flavour = detail::TANDEM_ASIO_FLAVOUR;
  return flavour::initiate<Token, typename detail::spawned_signature<T>::type>(
      detail::initiate_spawn<flavour, Executor, T>(owner, context), token, std::move(body));
}
template <std::derived_from<::TANDEM_ASIO::execution_context> Context, class T, class Token>
auto spawn_into(runtime& owner, Context& context, task<T> body, Token&& token) {
  return spawn_into(owner, context.get_executor(), std::move(body), std::forward<Token>(token));
}
template <class Executor, class T, class Token>
  requires(detail::TANDEM_ASIO_FLAVOUR::is_executor<Executor>)
auto spawn_into(const Executor& context, task<T> body, Token&& token) {
  runtime& owner =
      detail::current_runtime("tandem::spawn_into", "name it: spawn_into(runtime, context, ...)");
  return spawn_into(owner, context, std::move(body), std::forward<Token>(token));
}
template <std::derived_from<::TANDEM_ASIO::execution_context> Context, class T, class Token>
auto spawn_into(Context& context, task<T> body, Token&& token) {
  return spawn_into(context.get_executor(), std::move(body), std::forward<Token>(token));
}

}  // namespace tandem::inline v0

namespace TANDEM_ASIO {

template <class Wait, class Executor>
  requires(std::is_same_v<typename Wait::flavour, ::tandem::detail::TANDEM_ASIO_FLAVOUR>)
struct associated_executor<::tandem::detail::asio_handler<Wait>, Executor> {
  using type = typename Wait::template executor_over<Executor>;
  static type get(const ::tandem::detail::asio_handler<Wait>& handler,
                  const Executor& object = Executor()) noexcept {
    return handler.executor(object);
  }
};

template <class Signature>
class async_result<::tandem::use_await_t, Signature> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, ::tandem::use_await_t /*token*/, Args&&... args) {
    using flavour = ::tandem::detail::TANDEM_ASIO_FLAVOUR;
    using ::tandem::detail::apart_by;
    using started = std::decay_t<Initiation>;
    if constexpr (::tandem::detail::is_bound_in<started>()) {
      return ::tandem::detail::await_asio<flavour, Signature, apart_by::executor>(
          ::tandem::detail::bound_executor_in(initiation), std::forward<Initiation>(initiation),
          std::forward<Args>(args)...);
    } else {
      constexpr apart_by apart =
          ::tandem::detail::has_one_step<started>() ? apart_by::itself : apart_by::strand;
      return ::tandem::detail::await_asio<flavour, Signature, apart>(
          ::tandem::detail::no_bound(), std::forward<Initiation>(initiation),
          std::forward<Args>(args)...);
    }
  }
};

/// Asio's own asks for a return type that does not depend on the operation.
template <class Token, class R, class... Others>
  requires(::tandem::detail::is_await_token<Token>)
class async_result<redirect_error_t<Token>,
                   R(::tandem::detail::TANDEM_ASIO_FLAVOUR::error_code, Others...)> {
  template <class Initiation>
  struct redirected {
    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) {
      std::move(initiation_)(
          detail::redirect_error_handler<std::decay_t<Handler>>(code, std::move(handler)),
          std::forward<Args>(args)...);
    }
    Initiation initiation_;  // as Asio's adapters call it: whose executor it is
    ::tandem::detail::TANDEM_ASIO_FLAVOUR::error_code& code;
  };

 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, const redirect_error_t<Token>& token,
                       Args&&... args) {
    Token inner(token.token_);
    return async_initiate<Token, R(Others...)>(
        redirected<std::decay_t<Initiation>>{std::forward<Initiation>(initiation), token.ec_},
        inner, std::forward<Args>(args)...);
  }
};

/// Bound to an executor, the operation runs there: it is taken for a strand.
template <class Executor, class Signature>
class async_result<executor_binder<::tandem::use_await_t, Executor>, Signature> {
 public:
  using token = executor_binder<::tandem::use_await_t, Executor>;

  explicit async_result(token& /*unused*/) = delete;
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, const token& bound, Args&&... args) {
    return ::tandem::detail::await_asio<::tandem::detail::TANDEM_ASIO_FLAVOUR, Signature,
                                        ::tandem::detail::apart_by::executor>(
        bound.get_executor(), std::forward<Initiation>(initiation), std::forward<Args>(args)...);
  }
};

}  // namespace TANDEM_ASIO

#undef TANDEM_ASIO
#undef TANDEM_ASIO_FLAVOUR
#undef TANDEM_ASIO_ERROR
