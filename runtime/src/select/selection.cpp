// selection.cpp: who ends a select, and how. Protocol selecting: runtime/src/select/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/detail/selection.hpp>

#include <cstdint>
#include <cstdio>
#include <thread>

#include <tandem/detail/thread_context.hpp>

#include "platform/spin_pause.hpp"

namespace tandem::inline v0::detail {

// What else can end the wait is known when its branches are armed: the note says it.
constinit const wait_kind selection::waits_for_first(&select_leaf::on_stop, "a select",
                                                     wait_end::anybody, &selection::describe);

void selection::describe(const stop_waiter& wait, wait_note& note) noexcept {
  const selection& self = static_cast<const select_leaf&>(wait).of();
  note.object = &self;
  // Acquire: pairs with open(). Before that it is arming them.
  if (self.word_.load(std::memory_order_acquire) != open_now) {
    note.end = wait_end::system;  // it is running, or about to
    return;
  }
  char words[sizeof note.more] = "";
  std::size_t used = 0;
  for (const select_place* each = self.joined_; each != nullptr; each = each->next) {
    if (each->by > note.end) note.end = each->by;
    const char* const word = each->what->kind().word;
    const int written =
        std::snprintf(words + used, sizeof words - used, "%s%s",  // NOLINT: fixed room
                      used == 0 ? "" : ", ", word[0] == 0 ? "time" : word);
    if (written < 0 || used + static_cast<std::size_t>(written) >= sizeof words - 24) break;
    used += static_cast<std::size_t>(written);
  }
  words[used] = 0;
  note.say("of %zu branches: %s", self.branches_,
           used != 0 ? words : "none that can be taken (branch_if has left them out)");
}

bool select_leaf::on_stop(stop_waiter& self) noexcept {
  static_cast<select_leaf&>(self).of_->stop();
  return true;
}

bool selection::begin(promise_base& waiting, std::size_t branches) noexcept {
  branches_ = branches;
  joined_ = nullptr;
  ends_later_ = false;
  shares_.store(1, std::memory_order_relaxed);  // published by open()
  if (has_leaf_) std::destroy_at(std::addressof(leaf_));
  std::construct_at(std::addressof(leaf_), waits_for_first, *this);
  has_leaf_ = true;
  stop_index_ = stopped;
  if (!leaf_.begin(waiting)) return false;
  arming_.store(&this_thread(), std::memory_order_relaxed);  // selecting/own
  return true;
}

void selection::enter(select_place& place, leaf& what) noexcept {
  place.what = &what;
  if (place.has_joined) return;
  place.has_joined = true;
  place.by = wait_end::anybody;
  place.let_go = nullptr;
  place.next = joined_;
  joined_ = &place;
}

void selection::arms_later(select_place& place, select_place::let_go_function let_go,
                           wait_end by) noexcept {
  place.let_go = let_go;
  place.by = by;
  place.is_out = true;
  ends_later_ = true;
  shares_.fetch_add(1, std::memory_order_relaxed);  // the turn's own share is there
}

void selection::not_armed(select_place& place) noexcept {
  place.is_out = false;
  shares_.fetch_sub(1, std::memory_order_relaxed);
}

selection::opening selection::open() noexcept {
  arming_.store(nullptr, std::memory_order_relaxed);
  word seen = resting_;
  if (word_.compare_exchange_strong(seen, open_now, std::memory_order_acq_rel)) [[likely]]
    return opening::waits;
  arming_.store(&this_thread(), std::memory_order_relaxed);
  if ((seen & stop_came) != 0) return opening::stopped;
  // Acquire: what stands in the places.
  (void)word_.fetch_and(~noticed, std::memory_order_acq_rel);
  return opening::noticed;
}

void selection::fall_out_of_step(std::uint32_t round) const noexcept {
  if (round < 2) return;
  // Other selects are at other addresses, and so pause for other whiles.
  const auto own =
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this) >> 4);  // NOLINT
  const std::uint32_t pauses = (own * 2'654'435'761U + round * 40'503U) >> 26;
  for (std::uint32_t i = 0; i < pauses; ++i) platform::spin_pause();
}

void selection::close_unpublished(std::uint32_t index) noexcept {
  word seen = word_.load(std::memory_order_relaxed);  // the CAS decides
  // Of what has stayed armed somebody may leave word.
  while (!word_.compare_exchange_weak(seen, ended_by(index) | (seen & noticed),
                                      std::memory_order_acq_rel)) {}
}

bool selection::close(std::uint32_t index) noexcept {
  arming_.store(nullptr, std::memory_order_relaxed);
  close_unpublished(index);
  if (index == stopped) leaf_.set_cancelled();
  return !finish();
}

void selection::end_turn() noexcept {
  for (select_place* each = joined_; each != nullptr; each = each->next) {
    each->has_joined = false;
    each->is_out = false;
  }
  joined_ = nullptr;
}

bool selection::notice(select_place& by, word& seen) noexcept {
  by.set_aside.store(true, std::memory_order_relaxed);
  // Release: pairs with turn() and open().
  return word_.compare_exchange_strong(seen, seen | noticed, std::memory_order_acq_rel);
}

bool selection::claim_again(select_place& by, word seen) noexcept {
  while (true) {
    if (seen == open_now) {
      if (word_.compare_exchange_strong(seen, ended_by(by.index), std::memory_order_acq_rel))
        return true;
    } else if (notice(by, seen)) {
      return false;
    }
  }
}

branch_look selection::pass_over(select_place& own) noexcept {
  own.ask_again = true;  // selecting/own
  return branch_look::own;
}

branch_look selection::look(select_place& at) noexcept {
  word seen = word_.load(std::memory_order_acquire);
  while (true) {
    if (seen == open_now) return branch_look::claimable;
    // Relaxed: only this thread writes its own address, and takes it away.
    if (arming_.load(std::memory_order_relaxed) == &this_thread()) return pass_over(at);
    if (notice(at, seen)) return branch_look::not_now;
  }
}

branch_look selection::claim_unless_own(select_place& by) noexcept {
  while (true) {
    word seen = open_now;
    if (word_.compare_exchange_strong(seen, ended_by(by.index), std::memory_order_acq_rel))
        [[likely]]
      return branch_look::claimable;
    const branch_look found = look(by);
    if (found != branch_look::claimable) return found;
  }
}

void selection::let_go_all() noexcept {
  // selecting/let_go
  for (select_place* each = joined_; each != nullptr; each = each->next) {
    // The turn's own share stays, so this is never the last one.
    if (each->is_out && each->let_go(*each->what)) {
      shares_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

bool selection::finish() noexcept {
  if (ends_later_) {
    let_go_all();
    if (!give_up_shares(1)) return false;
  }
  return leaf_.finish_unposted();
}

bool selection::end(select_place& of) noexcept {
  if (claim(of)) {
    let_go_all();
    return give_up_shares(2) && leaf_.finish_unposted();
  }
  // Release: pairs with wait_for_end(). The place may be used anew from here on; the share is the
  // selection's.
  of.has_ended.store(true, std::memory_order_release);
  return give_up_shares(1) && leaf_.finish_unposted();
}

void wait_for_end(const select_place& place) noexcept {
  while (!place.has_ended.load(std::memory_order_acquire)) std::this_thread::yield();
}

void selection::stop() noexcept {
  // selecting/stop. Acquire: as long as the task is away it may still say by whom a stop is taken.
  word seen = word_.load(std::memory_order_acquire);
  while (!word_.compare_exchange_weak(seen,
                                      seen == open_now ? ended_by(stop_index_) : seen | stop_came,
                                      std::memory_order_acq_rel, std::memory_order_acquire)) {}
  // Its task finds that when it would open; or another branch was first, in this turn.
  if (seen != open_now) return;
  if (stop_index_ == stopped) leaf_.set_cancelled();
  if (ends_later_) let_go_all();
  // The stopper is the second holder (stopping/hand_over).
  if (!ends_later_ || give_up_shares(1)) (void)leaf_.hand_over();
}

void leaf::enter_selection(select_place& as, leaf& what) noexcept { as.of->enter(as, what); }
void leaf::join_later(select_place& as, bool (*let_go)(leaf&) noexcept, wait_end by) noexcept {
  join(as);
  as.of->arms_later(as, let_go, by);
}
void leaf::not_armed() noexcept { place_of_->of->not_armed(*place_of_); }

bool leaf::claim_branch(select_place& of) noexcept { return of.of->claim(of); }
branch_look leaf::claim_unless_own(select_place& of) noexcept {
  return of.of->claim_unless_own(of);
}
branch_look leaf::look_at_branch(select_place& of) noexcept { return of.of->look(of); }
bool leaf::end_branch(select_place& of) noexcept { return of.of->end(of); }
bool leaf::finish_branch(select_place& of) noexcept { return of.of->finish(); }
promise_base& leaf::waiting_of(const select_place& of) noexcept { return of.of->waiting(); }

std::uint32_t first_branch(const void* site, std::uint32_t count) noexcept {
  // selecting/fair
  struct turn {
    const void* site;
    std::uint32_t next;
  };
  constexpr std::size_t places = 16;
  static constinit thread_local turn turns[places] = {};
  const auto address = reinterpret_cast<std::uintptr_t>(site);  // NOLINT
  turn& here = turns[(address >> 4 ^ address >> 9) % places];
  if (here.site != site) here = {site, here.next};
  const std::uint32_t first = here.next < count ? here.next : here.next % count;
  here.next = first + 1;
  return first;
}

}  // namespace tandem::inline v0::detail
