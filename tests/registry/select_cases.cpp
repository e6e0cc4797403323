// select_cases.cpp: the rows of select and its kin, where what no branch has taken is counted.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <tandem/branch_if.hpp>
#include <tandem/broadcast.hpp>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/select.hpp>
#include <tandem/select_list.hpp>
#include <tandem/selector.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stopped.hpp>
#include <tandem/with_stop.hpp>

#include "case_of.hpp"

namespace tandem::registry {
namespace select_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// A receive, beside a send to a channel that is full: complete() sends to the one, or, if it is to
/// fail, closes the other.
class select_base_case : public case_base {
 public:
  static constexpr bool ready_at_once = true;

  task<void> begin() {
    EXPECT_TRUE(full_.try_send(0));
    co_return;
  }
  void complete() {
    if (fails_) return full_.close();
    ++sent_;
    EXPECT_TRUE(items_.try_send(7));
  }
  void fail() { fails_ = true; }
  task<void> end() {
    EXPECT_EQ(items_.size(), static_cast<std::size_t>(sent_ - received_)) << "lost";
    EXPECT_EQ(full_.size(), 1U);
    co_return;
  }

 protected:
  ended received(std::optional<int> value) {
    EXPECT_EQ(value, 7);
    ++received_;
    return ended::returned;
  }

  channel<int> items_{256};
  channel<int> full_{1};
  int unsent_ = 7;

 private:
  std::atomic<int> sent_{0};
  std::atomic<int> received_{0};
  bool fails_ = false;
};

class select_case : public select_base_case {
 public:
  static constexpr std::string_view name = "select";
  using awaiters = covers<select_awaiter<false, receive_awaiter<int>, send_awaiter<int>>>;
  static constexpr int relays = 20;

  auto make() { return select(items_.receive(), full_.send(std::move(unsent_))); }
  ended took(selected<std::optional<int>, void> hit) {
    EXPECT_EQ(hit.index(), 0U);
    return received(hit.get<0>());
  }
};

class select_biased_case : public select_base_case {
 public:
  static constexpr std::string_view name = "select, biased";
  using awaiters = covers<select_awaiter<true, receive_awaiter<int>, send_awaiter<int>>>;
  static constexpr int relays = 20;

  auto make() {
    return select(biased, never_.receive(), full_.send(std::move(unsent_)), items_.receive());
  }
  ended took(selected<std::optional<int>, void, std::optional<int>> hit) {
    EXPECT_EQ(hit.index(), 2U);
    return received(hit.get<2>());
  }

 private:
  channel<int> never_{0};
};

/// A sleep is a branch that ends later: the select returns when its source has let go of it.
class select_later_case : public select_base_case {
 public:
  static constexpr std::string_view name = "select with a sleep";
  using awaiters = covers<>;
  static constexpr int relays = 20;

  auto make() {
    return select(sleep_for(std::chrono::hours(9)), full_.send(std::move(unsent_)),
                  items_.receive());
  }
  ended took(selected<void, void, std::optional<int>> hit) {
    EXPECT_EQ(hit.index(), 2U);
    return received(hit.get<2>());
  }
};

/// Never waits, so a stop finds nothing to end.
class select_otherwise_case : public select_base_case {
 public:
  static constexpr std::string_view name = "select with otherwise";
  using awaiters = covers<detail::otherwise_branch>;
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;
  static constexpr bool self_completing = true;

  auto make() { return select(items_.receive(), full_.send(std::move(unsent_)), otherwise); }
  ended took(selected<std::optional<int>, void, void> hit) {
    EXPECT_NE(hit.index(), 1U);
    return hit.index() == 0 ? received(hit.get<0>()) : ended::returned;
  }
  /// The exception is there before the await: it would not wait for it.
  void fail() { full_.close(); }
  void complete() {
    if (!full_.is_closed()) select_base_case::complete();
  }
};

class branch_if_case : public select_base_case {
 public:
  static constexpr std::string_view name = "branch_if";
  using awaiters = covers<conditional_branch<receive_awaiter<int>>>;
  static constexpr int relays = 20;

  auto make() {
    return select(branch_if(false, open_.wait()), branch_if(true, items_.receive()),
                  branch_if(true, full_.send(std::move(unsent_))));
  }
  ended took(selected<void, std::optional<int>, void> hit) {
    EXPECT_EQ(hit.index(), 1U);
    return received(hit.get<1>());
  }

 private:
  event open_{true};
};

/// It is one task's; between two awaits its branches stay armed.
class selector_case : public select_base_case {
 public:
  static constexpr std::string_view name = "selector::next";
  using awaiters = covers<
      detail::selector_awaiter<detail::branch_tuple<receive_awaiter<int>, send_awaiter<int>>>>;
  static constexpr bool one_waiter = true;

  task<void> begin() {
    co_await select_base_case::begin();
    next_ = std::make_unique<kept>(items_.receive(), full_.send(std::move(unsent_)));
  }
  auto make() { return next_->next(); }
  ended took(selected<std::optional<int>, void> hit) {
    EXPECT_EQ(hit.index(), 0U);
    return received(hit.get<0>());
  }
  task<void> end() {
    next_.reset();
    co_await select_base_case::end();
  }

 private:
  using kept = selector<receive_awaiter<int>, send_awaiter<int>>;
  std::unique_ptr<kept> next_;
};

/// A value whose copies fail when they are told to.
class fragile_copy {
 public:
  explicit fragile_copy(bool fails) : fails_(fails) {}
  fragile_copy(const fragile_copy& other) : fails_(other.fails_) {
    if (fails_) throw planned_failure();
  }
  fragile_copy(fragile_copy&&) noexcept = default;

 private:
  bool fails_;
};

class select_list_case : public case_base {
  using branch = broadcast_receive_awaiter<fragile_copy>;

 public:
  static constexpr std::string_view name = "select_list::next";
  using awaiters = covers<detail::selector_awaiter<detail::branch_list<branch>>>;
  static constexpr bool ready_at_once = true;
  static constexpr bool one_waiter = true;

  task<void> begin() {
    next_ = std::make_unique<select_list<branch>>();
    never_.emplace(silent_.subscribe());
    feed_.emplace(news_.subscribe());
    (void)next_->add(never_->receive());
    wanted_ = next_->add(feed_->receive());
    co_return;
  }
  auto make() { return next_->next(); }
  void complete() {
    ++sent_;
    news_.send(fragile_copy(fails_));
  }
  void fail() { fails_ = true; }
  ended took(const selected_item<broadcast_item<fragile_copy>>& hit) {
    EXPECT_EQ(hit.index, wanted_);
    EXPECT_TRUE(hit.value.has_value());
    ++received_;
    return ended::returned;
  }
  task<void> end() {
    next_.reset();
    EXPECT_EQ(feed_->behind(), static_cast<std::uint64_t>(sent_ - received_)) << "lost";
    feed_.reset();
    never_.reset();
    co_return;
  }

 private:
  broadcast<fragile_copy> silent_{1};
  broadcast<fragile_copy> news_{256};
  std::optional<broadcast_receiver<fragile_copy>> never_;
  std::optional<broadcast_receiver<fragile_copy>> feed_;
  std::unique_ptr<select_list<branch>> next_;
  std::size_t wanted_ = 0;
  std::atomic<int> sent_{0};
  int received_ = 0;
  bool fails_ = false;
};

/// complete() is a stop of its own scope: one from outside is what it waits for, too.
class stopped_case : public case_base {
 public:
  static constexpr std::string_view name = "stopped";
  using awaiters = covers<stopped_awaiter>;
  static constexpr row cells = every_column.without(
      column::exception, "it runs no code that could throw, and a stop is what it waits for");
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;

  auto make() { return with_stop(source_.get_token(), wait()); }
  void complete() { source_.request_stop(); }
  ended took(stop_reason why) {
    EXPECT_NE(why, stop_reason::none);
    return ended::returned;
  }

 private:
  static task<stop_reason> wait(counted /*here*/ = {}) { co_return co_await stopped(); }

  std::stop_source source_;
};

/// The end by a stop is a value, as that of the other branch.
class select_stopped_case : public select_base_case {
 public:
  static constexpr std::string_view name = "select with stopped";
  using awaiters = covers<>;
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;

  auto make() { return select(items_.receive(), stopped(), full_.send(std::move(unsent_))); }
  ended took(selected<std::optional<int>, stop_reason, void> hit) {
    EXPECT_NE(hit.index(), 2U);
    if (hit.index() == 1) {
      EXPECT_NE(hit.get<1>(), stop_reason::none);
    }
    return hit.index() == 0 ? received(hit.get<0>()) : ended::returned;
  }
};

using cases = ::testing::Types<select_case, select_biased_case, select_later_case,
                               select_otherwise_case, branch_if_case, selector_case,
                               select_list_case, stopped_case, select_stopped_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(select, awaitable, cases, case_names);

}  // namespace select_rows
}  // namespace tandem::registry
