// errors.cpp: codes of stops, and what the exceptions say.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <typeinfo>

#include <tandem/errors.hpp>

namespace tandem::inline v0 {

namespace {

/// What is known of a stop, for people, behind what what() says in front of it.
constexpr std::string_view stopped = "stopped: ";
const char* text_of_stop(stop_reason reason) noexcept {
  switch (reason) {
    case stop_reason::none: break;
    case stop_reason::user: return "stopped: the task was asked to stop";
    case stop_reason::deadline: return "stopped: its time limit was over";
    case stop_reason::parent: return "stopped: the task that waited for it has ended";
    case stop_reason::sibling_failed: return "stopped: another task of its scope has failed";
    case stop_reason::race_lost: return "stopped: another one of its race was first";
    case stop_reason::shutdown: return "stopped: its runtime ends";
    case stop_reason::discarded: return "stopped: a worker pool, full or shut down, has dropped it";
    case stop_reason::migrate: return "stopped: its operation moves to another thread";
  }
  return "stopped: nobody has said why";
}

class category_of_stops final : public std::error_category {
 public:
  constexpr category_of_stops() noexcept = default;
  const char* name() const noexcept override { return "tandem.stop"; }
  std::string message(int reason) const override {
    return text_of_stop(static_cast<stop_reason>(reason)) + stopped.size();
  }
  std::error_condition default_error_condition(int /*reason*/) const noexcept override {
    return std::make_error_condition(std::errc::operation_canceled);
  }
  bool equivalent(int reason, const std::error_condition& condition) const noexcept override {
    if (condition == default_error_condition(reason)) return true;
    return reason == static_cast<int>(stop_reason::deadline) &&
           condition == std::make_error_condition(std::errc::timed_out);
  }
};

/// A std::system_error always builds a text, of its code's message: a stop has none until somebody
/// asks.
class category_without_text final : public std::error_category {
 public:
  constexpr category_without_text() noexcept = default;
  const char* name() const noexcept override { return "tandem.stop"; }
  std::string message(int /*reason*/) const override { return {}; }
};

class category_of_tandem final : public std::error_category {
 public:
  constexpr category_of_tandem() noexcept = default;
  const char* name() const noexcept override { return "tandem"; }
  std::string message(int code) const override {
    switch (static_cast<errc>(code)) {
      case errc::callback_dropped: return "the awaited callback was dropped without a call";
      case errc::callback_overflow: return "more callbacks came than the stream had room for";
      case errc::channel_closed: return "the channel is closed";
      case errc::sender_dropped: return "the sender went without a value";
    }
    return "unknown code " + std::to_string(code);
  }
};

/// Never destroyed: destructors of statics may still look at a code.
template <class Category>
union undying_category {
  constexpr undying_category() noexcept : category() {}
  ~undying_category() {}  // NOLINT
  Category category;
};
constinit undying_category<category_of_stops> of_stops;
constinit undying_category<category_of_tandem> of_tandem;
constinit undying_category<category_without_text> without_text;

}  // namespace

const std::error_category& stop_category() noexcept { return of_stops.category; }
const std::error_category& tandem_category() noexcept { return of_tandem.category; }

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), tandem_category()};
}

std::error_code make_error_code(stop_reason reason) noexcept {
  // 0 would be no error.
  if (reason == stop_reason::none) return std::make_error_code(std::errc::operation_canceled);
  return {static_cast<int>(reason), stop_category()};
}

std::optional<stop_reason> detail::stop_reason_of(const std::error_code& error) noexcept {
  if (error.category() == stop_category()) return static_cast<stop_reason>(error.value());
  if (error == std::make_error_condition(std::errc::operation_canceled)) return stop_reason::none;
  return std::nullopt;
}

namespace {

/// The exception itself, without a throw, if it is exactly that; else null. Rethrowing to see the
/// type costs a microsecond and more, for each task of a tree that is stopped.
const operation_cancelled* as_cancellation(const std::exception_ptr& failure) noexcept {
#if defined(__GLIBCXX__)
  static_assert(sizeof(failure) == sizeof(void*));
  if (failure == nullptr || *failure.__cxa_exception_type() != typeid(operation_cancelled)) {
    return nullptr;
  }
  const void* object = nullptr;
  std::memcpy(&object, &failure, sizeof object);  // an exception_ptr there is the address
  return static_cast<const operation_cancelled*>(object);
#else
  (void)failure;
  return nullptr;
#endif
}

}  // namespace

std::exception_ptr detail::cancellation(stop_reason reason) noexcept {
  try {
    return std::make_exception_ptr(operation_cancelled(reason));
  } catch (...) {  // in some libraries even an empty text needs memory
    return std::current_exception();
  }
}

std::error_code detail::code_of(const std::exception_ptr& failure) noexcept {
  if (const operation_cancelled* const stop = as_cancellation(failure)) return stop->code();
  try {
    std::rethrow_exception(failure);
  } catch (const std::system_error& other) {
    return other.code();
  } catch (...) {
    return std::make_error_code(std::errc::state_not_recoverable);
  }
}

std::optional<stop_reason> detail::stop_reason_of(const std::exception_ptr& failure) noexcept {
  if (const operation_cancelled* const stop = as_cancellation(failure)) return stop->reason();
  try {
    std::rethrow_exception(failure);
  } catch (const operation_cancelled& stop) {
    return stop.reason();
  } catch (const std::system_error& other) {
    return stop_reason_of(other.code());
  } catch (...) {
    return std::nullopt;
  }
}

operation_cancelled::operation_cancelled(stop_reason reason)
    : std::system_error(std::error_code(0, without_text.category)), reason_(reason) {
  // The standard lets nobody choose the code without its text; the code itself is no constant.
  const_cast<std::error_code&>(code()) = make_error_code(reason);  // NOLINT
}
operation_cancelled::~operation_cancelled() = default;

const char* operation_cancelled::what() const noexcept {
  if (reason_ != stop_reason::none) return text_of_stop(reason_);
  try {
    // As the standard's own code says it. Never destroyed, as the categories.
    static const auto* const of_code =
        new std::string(std::string(stopped) + make_error_code(stop_reason::none).message());
    return of_code->c_str();
  } catch (const std::bad_alloc&) {
    return text_of_stop(stop_reason::none);
  }
}

bool detail::is_cancellation(const std::exception_ptr& failure) noexcept {
  if (failure == nullptr) return false;
  if (as_cancellation(failure) != nullptr) return true;
  try {
    std::rethrow_exception(failure);
  } catch (const operation_cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

would_deadlock::would_deadlock(const char* what_was_tried)
    : std::logic_error(std::string(what_was_tried) +
                       " was called on a thread of a tandem runtime: it would block a thread that "
                       "the awaited task may need. Use co_await there.") {}
would_deadlock::~would_deadlock() = default;

runtime_stopped::runtime_stopped(const char* what_was_tried)
    : std::runtime_error(
          std::string(what_was_tried) +
          " was refused: the runtime, or its worker pool, is being shut down or has ended.") {}
runtime_stopped::~runtime_stopped() = default;

forked_runtime::forked_runtime(const char* what_was_tried, int owner_process)
    : std::runtime_error(
          std::string(what_was_tried) + " was refused: the runtime belongs to process " +
          std::to_string(owner_process) +
          ", of which this one is a fork, and its threads do not exist here. Make a new runtime in "
          "the child, fork before the first runtime is made, or call exec."),
      owner_process_(owner_process) {}
forked_runtime::~forked_runtime() = default;

executor_closed::executor_closed(std::string_view executor_name)
    : std::runtime_error("a task was refused: executor \"" + std::string(executor_name) +
                         "\" has been closed. What was spawned there before runs to its end.") {}
executor_closed::~executor_closed() = default;

}  // namespace tandem::inline v0
