// token_callback.hpp: what hears of the stop of a std::stop_token, and can always be ended.
// SPDX-License-Identifier: MIT
//
// A std::stop_callback that ends while its function runs on another thread waits for that. Where
// libstdc++ has no futex, it may sleep through the one notification that comes, and then for ever.
// So there nobody ends one who would have to wait. Protocol stop_tokens: runtime/src/stop/README.md.
#pragma once

#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class token_watch;
class token_watches;

/// One function that a stop calls, however many there are of one token. May not be moved.
class TANDEM_API shared_token_callback {
 public:
  using function = void (*)(void*) noexcept;

  /// Calls at once if the stop has come already.
  shared_token_callback(const std::stop_token& token, function called, void* with) noexcept;
  shared_token_callback(const shared_token_callback&) = delete;
  shared_token_callback& operator=(const shared_token_callback&) = delete;
  /// Afterwards the function neither runs nor will, but for one that this is called by.
  ~shared_token_callback();

 private:
  friend class token_watch;
  friend class token_watches;
  struct own_call {
    shared_token_callback* of;
    void operator()() const noexcept { of->called_(of->with_); }
  };

  const function called_;
  void* const with_;
  std::optional<std::stop_callback<own_call>> alone_;  // there was no memory for more

  // Under the lock of the row.
  token_watches* row_ = nullptr;  // null: never registered
  token_watch* at_ = nullptr;     // null: it was called, or is being called
  shared_token_callback* previous_ = nullptr;
  shared_token_callback* next_ = nullptr;
  bool* is_gone_ = nullptr;  // of the call that is under way
  std::thread::id caller_;
};

/// How many stop states are watched, for tests.
TANDEM_API std::size_t watched_stop_states() noexcept;

#if defined(__GLIBCXX__) && !defined(_GLIBCXX_HAVE_PLATFORM_WAIT)
template <class F>
class token_callback {
 public:
  token_callback(const std::stop_token& token, F called)
      : function_(std::move(called)), callback_(token, &token_callback::call, this) {}

 private:
  static void call(void* self) noexcept { static_cast<token_callback*>(self)->function_(); }

  F function_;
  shared_token_callback callback_;
};
#else
template <class F>
using token_callback = std::stop_callback<F>;
#endif

}  // namespace tandem::inline v0::detail
