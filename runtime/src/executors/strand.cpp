// strand.cpp: turns of a strand. Protocol strand: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/strand.hpp>

#include <atomic>
#include <utility>

#include <tandem/detail/admission.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/runtime.hpp>

#include "executors/job_inbox.hpp"
#include "executors/layer.hpp"
#include "executors/ordered_scheduler.hpp"

namespace tandem::inline v0 {

namespace {
constexpr unsigned segments_per_turn = 16;
}

/// The job is the turn: it is posted below, or runs, exactly while the inbox is not asleep.
class strand::impl final : public tandem::executor, private job {
 public:
  impl(tandem::executor& below, std::string name)
      : tandem::executor(counting_tasks()),
        job(&impl::run_turn),
        below_(below),
        counted_below_(below.counts_tasks() ? &below : nullptr),
        owner_(below.owner()),
        name_(std::move(name)),
        most_(share_of(below)) {
    detail::refuse_if_forked(below, "strand");
    detail::admission place(below);
    set_serial();
    place.keep();
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  void post(job* item, post_kind kind) noexcept override {
    refuse_if_forked();
    if (inbox_.push(item)) start_turn(kind);
  }
  void post_batch(job_list items, post_kind kind) noexcept override {
    if (items.empty()) return;
    refuse_if_forked();
    if (inbox_.push(items)) start_turn(kind);
  }
  bool is_current() const noexcept override { return detail::this_thread().layer == this; }
  runtime* owner() const noexcept override { return owner_; }
  std::string_view name() const noexcept override { return name_; }

  bool begin_task() noexcept override {
    // strand/closed_below. Over one that is closed: closed.
    if (counted_below_ != nullptr && !detail::still_admits(*counted_below_)) return false;
    holds_.fetch_add(1, std::memory_order_relaxed);  // whoever calls has a hold
    return true;
  }
  void end_task() noexcept override { release(); }

  /// strand/hold
  void release() noexcept {
    if (holds_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~impl() override {
    // In a child of fork() it may be gone: there it does not wait for us.
    if (counted_below_ != nullptr && !(owner_ != nullptr && detail::is_forked(*owner_))) {
      counted_below_->end_task();
    }
  }

  /// How many segments a turn runs. One where a virtual clock's seed decides after each who goes
  /// next, and one where turns are charged or ordered: else sixteen segments would pass for one.
  static unsigned share_of(tandem::executor& below) noexcept {
    if (const auto* const strand = dynamic_cast<impl*>(&below)) return strand->most_;
    const runtime* const owner = below.owner();
    const bool is_simulated = owner != nullptr && owner->options().clock;
    const bool is_ordered = dynamic_cast<detail::ordered_queue*>(&below) != nullptr;
    return is_simulated || is_ordered ? 1 : segments_per_turn;
  }

  void refuse_if_forked() const {
    if (owner_ != nullptr) detail::refuse_if_forked(*owner_, "strand::post");  // terminates
  }
  void start_turn(post_kind kind) noexcept {
    // strand/begin_turn. What was pushed keeps us alive until the turn runs it, the turn's own hold
    // from then on.
    holds_.fetch_add(1, std::memory_order_relaxed);
    below_.post(this, kind);
  }
  static void run_turn(job* self) noexcept { static_cast<impl*>(self)->take_turn(); }
  void take_turn() noexcept;

  tandem::executor& below_;
  tandem::executor* const counted_below_;
  tandem::runtime* const owner_;
  const std::string name_;
  const unsigned most_;
  job* ready_ = nullptr;  // the turn's: taken and not yet run, oldest first
  alignas(64) detail::job_inbox inbox_;
  alignas(64) std::atomic<std::size_t> holds_{1};  // one for all handles; tasks; a turn
};

void strand::impl::take_turn() noexcept {
  detail::thread_context& context = detail::this_thread();
  unsigned ran = 0;
  while (true) {
    if (ready_ == nullptr) ready_ = inbox_.take();  // strand/take
    if (ready_ == nullptr) {
      if (!inbox_.sleep()) continue;
      release();  // strand/sleep: from here on the next turn may run
      return;
    }
    if (ran == most_) {
      below_.post(this, post_kind::yield);  // strand/sleep: behind what waits there
      return;
    }
    if (ran++ != 0) context.budget = detail::await_budget;
    job* const item = ready_;
    ready_ = std::exchange(item->next, nullptr);
    detail::run_in_layer(context, *this, item);
  }
}

strand::strand(tandem::executor& below, std::string name)
    : impl_(new impl(below, std::move(name)), [](impl* shared) { shared->release(); }) {}

tandem::executor& strand::executor() const noexcept {
  TANDEM_ASSERT(impl_ != nullptr, "a strand that was moved from was used");
  return *impl_;
}

}  // namespace tandem::inline v0
