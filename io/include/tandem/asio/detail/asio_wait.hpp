// asio_wait.hpp: the await of an operation of Asio. Protocols foreign_waits and turns.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <tandem/asio/detail/await_executor.hpp>
#include <tandem/asio/detail/await_memory.hpp>
#include <tandem/asio/detail/operation_executor.hpp>
#include <tandem/detail/foreign_wait.hpp>
#include <tandem/detail/thread_context.hpp>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tandem::inline v0::detail {

/// What a handler's arguments mean. The first one may be an error.
template <class Flavour, class... Args>
struct handler_meaning {
  static constexpr bool has_code = false;
  static constexpr bool has_exception = false;
  using values = std::tuple<std::decay_t<Args>...>;
};
template <class Flavour, class First, class... Args>
struct handler_meaning<Flavour, First, Args...> {
  static constexpr bool has_code =
      std::is_same_v<std::decay_t<First>, typename Flavour::error_code>;
  static constexpr bool has_exception = std::is_same_v<std::decay_t<First>, std::exception_ptr>;
  using values = std::conditional_t<has_code || has_exception, std::tuple<std::decay_t<Args>...>,
                                    std::tuple<std::decay_t<First>, std::decay_t<Args>...>>;
};

template <class Values>
struct awaited_value {
  using type = Values;
};
template <>
struct awaited_value<std::tuple<>> {
  using type = void;
};
template <class T>
struct awaited_value<std::tuple<T>> {
  using type = T;
};

/// The completion handler. Destroyed without a call it ends the await as dropped. Its executor is
/// the await's strand over that of the object, which Asio offers (associated_executor).
template <class Wait>
class asio_handler {
  using flavour = typename Wait::flavour;

 public:
  using allocator_type = await_allocator<void, typename Wait::memory>;
  using cancellation_slot_type =
      await_slot<typename flavour::cancellation_type, typename flavour::cancellation_slot>;

  explicit asio_handler(Wait& wait) noexcept : wait_(&wait) {}
  asio_handler(asio_handler&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
  asio_handler& operator=(asio_handler&&) = delete;
  ~asio_handler() {
    if (wait_ != nullptr) wait_->dropped();
  }

  allocator_type get_allocator() const noexcept { return allocator_type(wait_->arena()); }
  cancellation_slot_type get_cancellation_slot() const noexcept { return wait_->slot(); }
  template <class Executor>
  typename Wait::template executor_over<Executor> executor(const Executor& object) const noexcept {
    return wait_->strand_over(object);
  }
  template <class... Given>
  void operator()(Given&&... given) {
    std::exchange(wait_, nullptr)->called(std::forward<Given>(given)...);
  }

 private:
  Wait* wait_;
};

/// Who keeps the steps of an operation and a stop apart.
enum class apart_by : std::uint8_t {
  itself,    ///< it has one step, which Asio itself guards against a stop
  strand,    ///< the await's own, or the object's executor where that is serial
  executor,  ///< that the user has bound
};

/// Everything of the await that does not depend on which operation it is.
///
/// @tparam Inner  the executor of the object, as far as it can be told, or that was bound
template <class Flavour, class Inner, apart_by apart, class... Args>
class asio_wait : protected foreign_wait, private await_strand::user {
  using cancellation = typename Flavour::cancellation_type;
  using meaning = handler_meaning<Flavour, Args...>;

 public:
  using flavour = Flavour;
  using values = typename meaning::values;
  /// Where the operation allocates. One of several steps may keep an allocator longer than the await
  /// lasts.
  using memory = std::conditional_t<apart == apart_by::itself, await_arena, await_strand>;
  using handler = asio_handler<asio_wait>;
  template <class Executor>
  using executor_over =
      std::conditional_t<apart == apart_by::executor, Inner,
                         std::conditional_t<apart == apart_by::itself, Executor,
                                            typename await_executor_over<Flavour, Executor>::type>>;

  // For the handler
  void dropped() noexcept {
    end_emissions();
    if (strand_ != nullptr) strand_->forget_user();
    inner_.reset();  // a strand must not outlive its context, which is about to go
    end_and_post(how::dropped);
  }
  memory& arena() noexcept {
    if constexpr (apart == apart_by::itself) {
      return arena_;
    } else {
      return *strand_;
    }
  }
  typename handler::cancellation_slot_type slot() noexcept {
    return typename handler::cancellation_slot_type(room_, signal_);
  }
  template <class Executor>
  executor_over<Executor> strand_over(const Executor& object) const noexcept {
    if constexpr (apart == apart_by::executor) {
      return *inner_;
    } else if constexpr (apart == apart_by::itself) {
      return object;
    } else {
      return executor_over<Executor>(strand_hold(*strand_), below_strand(object));
    }
  }
  template <class... Given>
  void called(Given&&... given) {
    // The context may go before the task goes on: nobody is to reach it from here any more.
    end_emissions();
    if constexpr (apart != apart_by::itself) strand_->forget_user();
    inner_.reset();
    try {
      keep(std::forward<Given>(given)...);
    } catch (...) {
      exception_ = std::current_exception();
    }
    end_in_loop(how::called);
  }

 protected:
  asio_wait() noexcept = default;
  /// For one that has not started.
  asio_wait(asio_wait&& other) noexcept : foreign_wait(std::move(other)) {}
  ~asio_wait() override {
    if (strand_ != nullptr) strand_->release();
  }

  /// @returns whether the task suspends
  bool start(promise_base& waiting) {
    if (!listen(waiting)) return false;
    try {
      const Inner object = object_executor();
      nature_ = nature_of<Flavour>(object);
      if (apart == apart_by::executor) nature_.is_serial = true;
      if (nature_.is_stopped) refuse_stopped();
      if (nature_.is_serial) inner_.emplace(object);
      if constexpr (apart != apart_by::itself) {
        strand_ = new await_strand(nature_.is_serial, *this);
      }
    } catch (...) {
      start_failure_ = std::current_exception();
      end_emissions();  // a stop that comes now finds neither executor nor strand
      (void)end_as(how::refused);
      return !started();
    }
    if (nature_.is_serial && !nature_.is_here) {
      {
        const Inner inner = *inner_;
        try {
          Flavour::execute(inner, starter(*this));
        } catch (...) {  // the starter was destroyed, and so has ended the await
        }
      }
      // The context may be gone when the await is over: not before this thread has left it.
      return start_is_left_.exchange(true, std::memory_order_acq_rel) ? !started() : true;
    }
    {
      // The turn ends before the start does: whoever leaves it may send a step to the executor,
      // whose context may be gone when the await is over.
      std::optional<held_turn> turn;
      if constexpr (apart == apart_by::strand) {
        if (!nature_.is_serial) {
          (void)strand_->try_enter();  // nobody else knows it
          turn.emplace(*strand_);
        }
      }
      initiate_here();
    }
    return !started();
  }

  virtual Inner object_executor() const = 0;
  virtual void initiate(handler&& done) = 0;
  /// It will not be started.
  virtual void forget() noexcept = 0;

  /// @returns null if the values are there
  std::exception_ptr failure() {
    resumed();
    if (!was_called()) {
      try {
        throw_error(
            "tandem::use_await: Asio destroyed the handler without calling it: the context of the "
            "operation ended before the operation did");
      } catch (...) {
        return std::current_exception();
      }
    }
    if (exception_ != nullptr) return cancelled_or(std::exchange(exception_, nullptr));
    if (!code_) return nullptr;
    if (is_stopped_by(code_)) return std::make_exception_ptr(operation_cancelled(reason()));
    return std::make_exception_ptr(std::system_error(code_));
  }
  std::error_code failure_code() {
    resumed();
    if (!was_called()) return error();
    if (exception_ != nullptr) std::rethrow_exception(cancelled_or(std::exchange(exception_, {})));
    return is_stopped_by(code_) ? make_error_code(reason()) : code_;
  }
  values& outcome() noexcept { return *values_; }

 private:
  /// What the strand lies over, if it lies over that already: over itself it would wait for itself.
  template <class Executor>
  static Executor below_strand(const Executor& object) noexcept {
    using any = typename Flavour::any_io_executor;
    if constexpr (std::is_same_v<Executor, any>) {
      const std::type_info& held = object.target_type();
      using over_own = await_executor<Flavour, Inner>;
      using over_any = await_executor<Flavour, any>;
      if constexpr (std::is_convertible_v<Inner, any>) {
        if (held == typeid(over_own)) return object.template target<over_own>()->below();
      }
      if (held == typeid(over_any)) return object.template target<over_any>()->below();
    }
    return object;
  }
  template <class Below>
  static Below below_strand(const await_executor<Flavour, Below>& object) noexcept {
    return object.below();
  }

  /// Comes to a serial executor, and starts the operation there.
  class starter {
   public:
    explicit starter(asio_wait& wait) noexcept : wait_(&wait) {}
    starter(starter&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
    starter& operator=(starter&&) = delete;
    ~starter() {
      if (wait_ == nullptr) return;
      wait_->end_emissions();
      wait_->inner_.reset();
      wait_->forget();
      (void)wait_->end_as(how::dropped);
      wait_->start_is_over();
    }
    void operator()() {
      asio_wait& wait = *std::exchange(wait_, nullptr);
      wait.initiate_here();
      wait.start_is_over();
    }

   private:
    asio_wait* wait_;
  };

  /// Comes to a serial executor, and emits there.
  class emitter {
   public:
    explicit emitter(asio_wait& wait) noexcept : wait_(&wait) {}
    emitter(emitter&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
    emitter& operator=(emitter&&) = delete;
    ~emitter() {
      if (wait_ != nullptr && wait_->stop_is_left_.exchange(true, std::memory_order_acq_rel)) {
        wait_->told_stop();
      }
    }
    void operator()() { wait_->emit(); }

   private:
    asio_wait* wait_;
  };

  /// The stop's place in the turns.
  class waiting_emission : public await_turns::item {
   public:
    explicit waiting_emission(asio_wait& wait) noexcept
        : item(&waiting_emission::go), wait_(wait) {}

   private:
    static void go(item& self) noexcept {
      asio_wait& wait = static_cast<waiting_emission&>(self).wait_;
      await_strand& strand = *wait.strand_;
      const strand_hold held(strand);
      {
        const held_turn turn(strand);
        wait.emit();
      }
      wait.told_stop();
    }
    asio_wait& wait_;
  };

  /// The start has run at a serial executor. Whoever comes second, of it and the task that has sent
  /// it there, goes on.
  void start_is_over() noexcept {
    promise_base& waiting_task = waiting();
    if (!start_is_left_.exchange(true, std::memory_order_acq_rel)) return;
    if (started()) waiting_task.post();
  }
  void initiate_here() noexcept {
    try {
      initiate(handler(*this));
    } catch (...) {
      start_failure_ = std::current_exception();  // its handler has ended the await, or will
    }
  }

  template <class First, class... Rest>
  void keep(First&& first, Rest&&... rest) {
    if constexpr (meaning::has_code) {
      code_ = std::error_code(first);
      values_.emplace(std::forward<Rest>(rest)...);
    } else if constexpr (meaning::has_exception) {
      exception_ = std::forward<First>(first);
      if (exception_ == nullptr) values_.emplace(std::forward<Rest>(rest)...);
    } else {
      values_.emplace(std::forward<First>(first), std::forward<Rest>(rest)...);
    }
  }
  void keep() { values_.emplace(); }

  told tell_stop() noexcept override {
    // acquire: pairs with end_emissions(), after which there need be no executor and no strand.
    if (emitter_.load(std::memory_order_acquire) == over) return told::yes;
    if (nature_.is_serial) {
      if (!begin_emission()) return told::yes;
      {
        const Inner inner = *inner_;
        Flavour::execute_later(inner, emitter(*this));
      }
      end_emission();
      // As with the start: the await is not over before this thread has left the context.
      return stop_is_left_.exchange(true, std::memory_order_acq_rel) ? told::yes : told::later;
    }
    if constexpr (apart == apart_by::strand) {
      emission_.emplace(*this);
      if (!strand_->enter(*emission_)) return told::later;
      const strand_hold held(*strand_);
      const held_turn turn(*strand_);
      emit();
    } else {
      emit();
    }
    return told::yes;
  }
  void emit() noexcept {
    if (!begin_emission()) return;
    is_stopped_ = true;
    // What hangs there may call the handler in place, and the await be gone before it returns.
    bool is_gone = false;
    is_gone_ = &is_gone;
    do {
      has_stepped_ = false;
      room_.emit(Flavour::any_cancellation);
      // It has gone on in place, to a step that was not told.
    } while (!is_gone && (room_.is_fresh() || has_stepped_));
    if (!is_gone) signal_.emit(Flavour::any_cancellation);
    if (is_gone) return;
    is_gone_ = nullptr;
    end_emission();
  }
  /// @returns false if the handler was called, or destroyed
  bool begin_emission() noexcept {
    std::uintptr_t seen = 0;
    // acq_rel: pairs with end_emissions(); the operation has hung up something, or nothing.
    while (!emitter_.compare_exchange_weak(seen, this_emitter(), std::memory_order_acq_rel)) {
      if (seen == over || seen == this_emitter()) return false;  // the emission around goes on
      if (seen != 0) std::this_thread::yield();  // whoever sends this there is about to leave
      seen = 0;
    }
    return true;
  }
  void end_emission() noexcept {
    std::uintptr_t mine = this_emitter();
    emitter_.compare_exchange_strong(mine, 0, std::memory_order_acq_rel);  // unless it is over
  }
  /// From now on a stop reaches nothing of Asio's: an end may come without the turn, when a context
  /// is destroyed, which is to find nobody inside it.
  void end_emissions() noexcept {
    std::uintptr_t seen = 0;
    // acq_rel: pairs with emit().
    while (!emitter_.compare_exchange_weak(seen, over, std::memory_order_acq_rel)) {
      if (seen == over) return;
      if (seen == this_emitter()) {  // inside it: what hangs there is running
        if (is_gone_ != nullptr) *is_gone_ = true;
        emitter_.store(over, std::memory_order_release);
        return;
      }
      if (seen != 0) std::this_thread::yield();  // an emission is short
      seen = 0;
    }
    room_.clear();
  }
  static std::uintptr_t this_emitter() noexcept {
    return reinterpret_cast<std::uintptr_t>(&this_thread());  // NOLINT: an address that is no other
  }
  /// A stop may have come between two steps, and was told to one that was over: once more. What hangs
  /// in the room may be new, or that of the whole operation, which passes a stop on to the step that
  /// is under way, and need not ask later whether there was one. Something that goes on all the same
  /// ignores stops.
  void step_is_over() noexcept override {
    if (!is_stopped_) return;
    if (!room_.is_fresh() && repeats_++ >= most_repeats) return;
    has_stepped_ = true;
    emit();
  }

  [[noreturn]] static void refuse_stopped() {
    throw std::logic_error(
        "tandem::use_await: the io_context of this operation is stopped, so nothing would ever "
        "complete: keep its run() going with an executor_work_guard, or call restart() and run() "
        "before");
  }
  bool is_stopped_by(const std::error_code& code) const noexcept {
    return stop_came() && Flavour::is_aborted(code);
  }
  stop_reason reason() const noexcept { return waiting().env->stop().reason(); }
  std::exception_ptr cancelled_or(std::exception_ptr failed) const {
    if (!stop_came()) return failed;
    try {
      std::rethrow_exception(failed);
    } catch (const typename Flavour::system_error& error) {
      if (Flavour::is_aborted(std::error_code(error.code())))
        return std::make_exception_ptr(operation_cancelled(reason()));
    } catch (...) {  // it is handed out below
    }
    return failed;
  }

  std::optional<Inner> inner_;  // if it is serial, until the handler is called or destroyed
  await_strand* strand_ = nullptr;
  executor_nature nature_;
  // Under the turn: a stop was emitted; a step went on while it was; how often it was told again.
  bool is_stopped_ = false;
  bool has_stepped_ = false;
  std::uint32_t repeats_ = 0;
  static constexpr std::uint32_t most_repeats = 1000;
  static constexpr std::uintptr_t over = 1;
  // At a serial executor: of who sends the start, or the emission, there, and that itself, one is
  // done.
  std::atomic<bool> start_is_left_{false};
  std::atomic<bool> stop_is_left_{false};
  // 0; over: the handler was called, or destroyed, or will not be made; or which thread is emitting
  // a stop.
  bool* is_gone_ = nullptr;  // of the emission that is under way
  std::atomic<std::uintptr_t> emitter_{0};
  std::error_code code_;
  std::exception_ptr exception_;
  std::optional<values> values_;
  std::optional<waiting_emission> emission_;  // the stopper's
  cancellation_room<cancellation> room_;
  typename Flavour::cancellation_signal signal_;  // for those that insist on Asio's own slot
  [[no_unique_address]] std::conditional_t<apart == apart_by::itself, await_arena, no_arena> arena_;
};

}  // namespace tandem::inline v0::detail
