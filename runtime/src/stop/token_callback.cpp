// token_callback.cpp: one std::stop_callback for each stop state. Protocol stop_tokens: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/token_callback.hpp>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace tandem::inline v0::detail {

/// One stop state, and all that hear of it. Under the lock of its row.
class token_watch {
 public:
  token_watch(const std::stop_token& of, token_watches& in) noexcept : token(of), row(in) {}

  bool is_idle() const noexcept { return first == nullptr; }
  void add(shared_token_callback& added) noexcept {
    added.at_ = this;
    added.next_ = first;
    if (first != nullptr) first->previous_ = &added;
    first = &added;
  }
  void remove(shared_token_callback& gone) noexcept {
    (gone.previous_ != nullptr ? gone.previous_->next_ : first) = gone.next_;
    if (gone.next_ != nullptr) gone.next_->previous_ = gone.previous_;
    gone.previous_ = gone.next_ = nullptr;
    gone.at_ = nullptr;
  }

  struct stop_came {
    token_watch* at;
    void operator()() const noexcept;
  };

  const std::stop_token token;
  token_watches& row;
  token_watch* next = nullptr;  // in the row
  shared_token_callback* first = nullptr;
  std::thread::id builder;  // who makes the callback, as long as that takes
  bool is_over = false;     // its stop has come while it was being made
  std::optional<std::stop_callback<stop_came>> callback;
};

/// Some of them, by where their state lies.
class token_watches {
 public:
  /// stop_tokens/enter
  void enter(const std::stop_token& token, shared_token_callback& added) noexcept {
    token_watch* made = nullptr;
    {
      const std::lock_guard hold(lock_);
      sweep();
      token_watch* at = first_;
      while (at != nullptr && !(at->token == token)) at = at->next;
      if (at == nullptr) {
        at = made = new (std::nothrow) token_watch(token, *this);
        if (made == nullptr) {
          added.row_ = nullptr;
          return;
        }
        made->builder = std::this_thread::get_id();
        made->next = std::exchange(first_, made);
        ++count_;
      }
      at->add(added);
    }
    if (made == nullptr) return;
    made->callback.emplace(token, token_watch::stop_came{made});  // stopped already: calls all
    std::unique_lock hold(lock_);
    made->builder = {};
    changed_.notify_all();
    if (!made->is_over) return;
    hold.unlock();
    delete made;  // its callback was called by its constructor, and is registered nowhere
  }

  /// stop_tokens/leave
  void leave(shared_token_callback& gone) noexcept {
    std::unique_lock hold(lock_);
    if (token_watch* const at = gone.at_) {
      at->remove(gone);
      if (at->is_idle()) sweep();
      return;
    }
    if (gone.is_gone_ == nullptr) return;  // it was called, or there was no stop in time
    if (gone.caller_ == std::this_thread::get_id()) {
      *gone.is_gone_ = true;
      return;
    }
    changed_.wait(hold, [&gone] { return gone.is_gone_ == nullptr; });
  }

  /// stop_tokens/fire
  void fire(token_watch& at) noexcept {
    std::unique_lock hold(lock_);
    const std::thread::id self = std::this_thread::get_id();
    while (shared_token_callback* const next = at.first) {
      at.remove(*next);
      bool is_gone = false;
      next->is_gone_ = &is_gone;
      next->caller_ = self;
      hold.unlock();
      next->called_(next->with_);
      hold.lock();
      if (is_gone) continue;
      next->is_gone_ = nullptr;
      changed_.notify_all();
    }
    unlink(at);
    if (at.builder == self) {
      at.is_over = true;
      return;
    }
    changed_.wait(hold, [&at] { return at.builder == std::thread::id(); });
    hold.unlock();
    delete &at;  // by its own callback: nobody waits for that
  }

  std::size_t count() noexcept {
    const std::lock_guard hold(lock_);
    sweep();
    return count_;
  }

 private:
  /// stop_tokens/sweep. Those of which no stop can come any more, and none has.
  void sweep() noexcept {
    for (token_watch** place = &first_; *place != nullptr;) {
      token_watch* const each = *place;
      if (!each->is_idle() || each->builder != std::thread::id() || each->token.stop_possible()) {
        place = &each->next;
        continue;
      }
      *place = each->next;
      --count_;
      delete each;
    }
  }
  void unlink(token_watch& gone) noexcept {
    token_watch** place = &first_;
    while (*place != &gone) place = &(*place)->next;
    *place = gone.next;
    --count_;
  }

  std::mutex lock_;
  std::condition_variable changed_;  // a call is over; a watch was made
  token_watch* first_ = nullptr;
  std::size_t count_ = 0;
};

void token_watch::stop_came::operator()() const noexcept { at->row.fire(*at); }

namespace {

using table = std::array<token_watches, 64>;

/// Never destroyed: tokens may be stopped when statics have gone.
table& all_rows() noexcept {
  alignas(table) static std::byte room[sizeof(table)];
  static table* const made = new (room) table();
  return *made;
}

token_watches& row_of(const std::stop_token& token) noexcept {
  // Equal tokens have equal bytes in the libraries that there are; else they would be watched twice.
  std::uintptr_t address = 0;
  static_assert(sizeof token >= sizeof address);
  std::memcpy(&address, &token, sizeof address);
  table& rows = all_rows();
  return rows[(address >> 4U) * 0x9E3779B97F4A7C15ULL >> 58U];
}

}  // namespace

shared_token_callback::shared_token_callback(const std::stop_token& token, function called,
                                             void* with) noexcept
    : called_(called), with_(with) {
  if (token.stop_requested()) {
    called_(with_);
  } else if (token.stop_possible()) {
    row_ = &row_of(token);
    row_->enter(token, *this);
    if (row_ == nullptr) alone_.emplace(token, own_call{this});
  }
}

shared_token_callback::~shared_token_callback() {
  if (row_ != nullptr) row_->leave(*this);
}

std::size_t watched_stop_states() noexcept {
  std::size_t count = 0;
  for (token_watches& each : all_rows()) count += each.count();
  return count;
}

}  // namespace tandem::inline v0::detail
