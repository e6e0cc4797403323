// watch.hpp: a value that changes, and those that want to know its latest state.
// SPDX-License-Identifier: MIT
//
// A reader sees the latest version, never all of them: who is slow misses the ones between. For
// configuration, prices, progress, health; where every value counts, broadcast is the right one.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/detail/watch_base.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

template <class T>
class watch;

namespace detail {

template <class T>
class watch_core final : public watch_base {
 public:
  template <class... Args>
  explicit watch_core(Args&&... args) : latest_(std::forward<Args>(args)...) {}

  bool set(T& value) noexcept {
    const lock_word::word state = word_.lock();
    if ((state & closed) != 0) [[unlikely]] {
      word_.unlock(state);
      return false;
    }
    value_.begin_write();
    [[maybe_unused]] const T old(std::move(latest_));  // goes when nobody waits for that any more
    std::destroy_at(std::addressof(latest_));
    std::construct_at(std::addressof(latest_), std::move(value));
    value_.end_write(version() + 1);
    end_set(state);
    return true;
  }
  template <class F>
  bool update(F& change) {
    const lock_word::word state = word_.lock();
    if ((state & closed) != 0) [[unlikely]] {
      word_.unlock(state);
      return false;
    }
    value_.begin_write();
    const std::uint64_t before = version();
    bool is_changed = true;
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<F&, T&>>) {
        std::invoke(change, latest_);
      } else {
        is_changed = std::invoke(change, latest_);
      }
    } catch (...) {
      value_.end_write(before);
      word_.unlock(state);
      throw;
    }
    value_.end_write(is_changed ? before + 1 : before);
    if (is_changed) {
      end_set(state);
    } else {
      word_.unlock(state);
    }
    return true;
  }
  /// watches/see.
  ///
  /// @param seen  becomes the version that `use` is called with
  template <class Use>
  decltype(auto) read(Use& use, std::uint64_t& seen) {
    const std::uint64_t version = value_.hold();
    const value_hold held(value_);
    const std::uint64_t before = std::exchange(seen, version);
    try {
      return std::invoke(use, std::as_const(latest_));
    } catch (...) {
      seen = before;  // it has not got it
      throw;
    }
  }

 private:
  T latest_;
};

}  // namespace detail

/// Awaiter of watch_reader::changed(), and base of that of next().
class [[nodiscard]] TANDEM_API watch_changed_awaiter {
 public:
  using tandem_awaiter = void;

  watch_changed_awaiter(detail::watch_base& of, std::uint64_t& seen) noexcept
      : of_(&of), seen_(&seen) {}
  watch_changed_awaiter(watch_changed_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && of_->has_news(*seen_) && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (room_.gave_way(self.promise())) return true;
    return of_->start(room_.build(*of_), self.promise(), *seen_);
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  bool await_resume() {
    room_.throw_if_cancelled();
    const std::uint64_t now = of_->version();
    if (now == *seen_) return false;
    *seen_ = now;  // watches/see
    return true;
  }

  // As a branch of select() (protocol selecting).
  bool select_try() const noexcept { return of_->has_news(*seen_); }
  bool select_arm(detail::select_place& as) noexcept {
    return of_->arm(room_.branch(as, *of_), *seen_);
  }
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 protected:
  void throw_if_cancelled() const { room_.throw_if_cancelled(); }
  bool has_changed() const noexcept { return of_->version() != *seen_; }

  detail::watch_base* of_;
  std::uint64_t* seen_;

 private:
  detail::waiter_room<detail::watch_waiter> room_;
};

/// Awaiter of watch_reader::next().
template <class T>
class [[nodiscard]] watch_next_awaiter : public watch_changed_awaiter {
 public:
  using watch_changed_awaiter::watch_changed_awaiter;

  std::optional<T> await_resume() {
    throw_if_cancelled();
    if (!has_changed()) return std::nullopt;
    const auto copy = [](const T& latest) { return std::optional<T>(latest); };
    return static_cast<detail::watch_core<T>*>(of_)->read(copy, *seen_);
  }
};

/// Somebody who follows a watch, from watch::subscribe(). It has to go before the watch does. At
/// first it has seen no version: changed() and next() are ready at once.
///
/// @thread_safety  one task at a time; no await may wait while it is moved
template <class T>
class [[nodiscard]] watch_reader {
 public:
  watch_reader(watch_reader&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), seen_(other.seen_) {}
  watch_reader& operator=(watch_reader&& other) noexcept {
    watch_reader moved(std::move(other));
    std::swap(core_, moved.core_);
    std::swap(seen_, moved.seen_);
    return *this;
  }
  ~watch_reader() {
    if (core_ != nullptr) core_->leave();
  }

  /// A copy of the latest value, which from now on this reader has seen.
  T get() {
    return read([](const T& latest) { return latest; });
  }
  /// Calls `use` with the latest value, which from now on this reader has seen. Writers wait for
  /// that: it has to be short, and must not use the watch.
  template <class Use>
  decltype(auto) read(Use&& use) {
    return core().read(use, seen_);
  }
  /// Whether there is a version that it has not seen.
  bool has_changed() const noexcept { return core().version() != seen_; }

  /// Waits for a version that this reader has not seen, and counts it as seen.
  ///
  /// @returns        true; false when the watch is closed, and its last version was seen
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return normally; else nothing counts as seen, so the
  ///                 latest version is never missed. One that is ready may go through in a stopped
  ///                 task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           two loads if there is one; no allocation
  watch_changed_awaiter changed() noexcept { return watch_changed_awaiter(core(), seen_); }
  /// changed() and get() in one.
  ///
  /// @returns  a copy of the latest value; nothing when the watch is closed, and its last version
  ///           was seen
  watch_next_awaiter<T> next() noexcept { return watch_next_awaiter<T>(core(), seen_); }

  /// Waits until `is_right(value)` holds for the latest value, which may be one that was seen
  /// before.
  ///
  /// @param is_right  called once for each version that this task gets to see, as read() calls
  /// @returns         a task with a copy of that value; nothing if the watch was closed before
  /// @throws          what `is_right` throws; operation_cancelled, as changed()
  /// @resumes_on      the caller's home
  /// @cost            one frame
  template <class Predicate>
  task<std::optional<T>> wait_for(Predicate&& is_right) {
    static_assert(
        detail::safe_in_co_await<Predicate&&>,
        "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, or "
        "capture by reference");
    return run_wait_for<std::decay_t<Predicate>>(*this, std::forward<Predicate>(is_right));
  }

  // Implementation
 private:
  friend watch<T>;

  explicit watch_reader(detail::watch_core<T>& core) noexcept : core_(&core) { core_->join(); }
  detail::watch_core<T>& core() const noexcept {
    TANDEM_ASSERT(core_ != nullptr, "the reader of a watch was moved from");
    return *core_;
  }
  template <class Predicate>
  static task<std::optional<T>> run_wait_for(watch_reader& self, Predicate is_right) {
    while (true) {
      auto found = self.read([&is_right](const T& latest) {
        return std::invoke(is_right, latest) ? std::optional<T>(latest) : std::nullopt;
      });
      if (found) co_return found;
      auto change = self.changed();
      co_await detail::wait_for(change);
      co_await detail::pass_on(change.await_failure());
      if (!change.await_resume()) co_return std::nullopt;
    }
  }

  detail::watch_core<T>* core_;
  std::uint64_t seen_ = 0;
};

/// A value, its latest version, and those that wait for the next one.
///
///     tandem::watch<settings> current(read_settings());
///     auto reader = current.subscribe();
///     current.set(read_settings());                      // anywhere: no task is needed
///     while (auto latest = co_await reader.next()) {     // the present one at once; until closed
///       apply(*latest);
///     }
///
/// Any number may set it, in turns; any number may follow it. What happened before a set() has
/// happened for whoever sees its version. Of a T that can be moved without throwing; what copies or
/// moves it must not use the watch.
///
/// It may be destroyed when all calls have returned and all its readers are gone.
///
/// @thread_safety  all members from any thread, also outside any task
template <class T>
class watch {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a watch's value is replaced where readers wait for that: moving must not throw");
  static_assert(alignof(T) <= 16, "a value aligned over 16 bytes has to live on the heap (g++ 12)");

 public:
  /// Of a value that is made of `args`.
  template <class... Args>
    requires std::is_constructible_v<T, Args&&...>
  explicit watch(Args&&... args) : core_(std::forward<Args>(args)...) {}
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  /// A new version. It waits for no reader, but for as long as one copies the value.
  ///
  /// @returns  false if the watch is closed: then `value` is untouched
  /// @cost     a short lock and two moves, however many readers there are; then one post for each
  ///           run of those that wait and have the same home
  bool set(T&& value) noexcept { return core_.set(value); }
  bool set(const T& value) { return set(T(value)); }
  /// Changes the value in place: `change(value)`, under the lock that readers wait for. If it
  /// returns false nothing has changed, and nobody is woken; the same if it throws.
  ///
  /// @returns  false if the watch is closed: then it was not called
  /// @throws   what `change` throws: the value is as that has left it
  template <class Change>
  bool update(Change&& change) {
    return core_.update(change);
  }

  /// A copy of the latest value.
  T get() const {
    return read([](const T& latest) { return latest; });
  }
  /// Calls `use` with the latest value. Writers wait for that: it has to be short, and must not use
  /// the watch.
  template <class Use>
  decltype(auto) read(Use&& use) const {
    std::uint64_t seen = 0;
    return core_.read(use, seen);
  }
  /// 1 at first; goes up by one with each change.
  std::uint64_t version() const noexcept { return core_.version(); }

  watch_reader<T> subscribe() noexcept { return watch_reader<T>(core_); }
  /// How many readers there are; others may come and go at the same time.
  std::size_t readers() const noexcept { return core_.readers(); }
  /// How many of them wait for a change; looks at each, under the lock.
  std::size_t waiting() noexcept { return core_.waiting(); }

  /// No more versions; readers that have seen the last one hear of the end. Again: nothing.
  void close() noexcept { core_.close(); }
  bool is_closed() const noexcept { return core_.is_closed(); }

  // Implementation
 private:
  mutable detail::watch_core<T> core_;
};

}  // namespace tandem::inline v0
