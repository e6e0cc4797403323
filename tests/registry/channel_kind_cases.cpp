// channel_kind_cases.cpp: the rows of oneshot, unbounded_channel, broadcast and watch.
// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <tandem/broadcast.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/watch.hpp>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace channel_kind_rows {  // not an unnamed one: g++ warns of frames that hold such types

constexpr row cannot_fail = every_column.without(
    column::exception, "it runs no code that could throw; only a stop ends it");

class oneshot_receive_case : public case_base {
 public:
  static constexpr std::string_view name = "oneshot_receiver::receive";
  using awaiters = covers<oneshot_receive_awaiter<int>, detail::oneshot_receive_wait>;
  static constexpr bool ready_at_once = true;
  static constexpr bool one_waiter = true;

  auto make() { return ends_.receiver.receive(); }
  void complete() {
    if (is_sent_.exchange(true)) return;
    EXPECT_TRUE(fails_ ? ends_.sender.fail(std::make_exception_ptr(planned_failure()))
                       : ends_.sender.send(7));
  }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    is_taken_ = true;
    return ended::returned;
  }
  task<void> end() {
    if (is_sent_ && !is_taken_ && !fails_) {
      EXPECT_EQ(ends_.receiver.try_receive()->value(), 7) << "lost";
    }
    co_return;
  }

 private:
  oneshot<int> ends_;
  std::atomic<bool> is_sent_{false};
  bool fails_ = false;
  bool is_taken_ = false;
};

class oneshot_closed_case : public case_base {
 public:
  static constexpr std::string_view name = "oneshot_sender::closed";
  using awaiters = covers<oneshot_closed_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;

  auto make() { return ends_.sender.closed(); }
  void complete() { ends_.receiver.close(); }
  task<void> end() {
    ends_.receiver = {};
    EXPECT_TRUE(ends_.sender.is_closed());
    co_return;
  }

 private:
  oneshot<int> ends_;
};

class unbounded_receive_case : public case_base {
 public:
  static constexpr std::string_view name = "unbounded_channel::receive";
  using awaiters = covers<unbounded_receive_awaiter<int>>;
  static constexpr row cells = every_column.without(
      column::exception, "a closed channel yields an empty value, and nothing else can go wrong");
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  auto make() { return channel_.receive(); }
  void complete() {
    ++sent_;
    channel_.send(7);
  }
  ended took(std::optional<int> value) {
    EXPECT_EQ(value, 7);
    ++received_;
    return ended::returned;
  }
  task<void> end() {
    EXPECT_EQ(channel_.size(), static_cast<std::size_t>(sent_ - received_));
    co_return;
  }

 private:
  unbounded_channel<int> channel_;
  std::atomic<int> sent_{0};
  std::atomic<int> received_{0};
};

/// Above its watermark of none; complete() drains it.
class unbounded_low_case : public case_base {
 public:
  static constexpr std::string_view name = "unbounded_channel::until_low";
  using awaiters = covers<unbounded_low_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;

  task<void> begin() {
    channel_.send(7);
    co_return;
  }
  auto make() { return channel_.until_low(); }
  void complete() { (void)channel_.try_receive(); }

 private:
  unbounded_channel<int> channel_{0};
};

/// A value whose copies fail when they are told to.
class fragile {
 public:
  fragile(int number, bool fails) : number_(number), fails_(fails) {}
  fragile(const fragile& other) : number_(other.number_), fails_(other.fails_) {
    if (fails_) throw planned_failure();
  }
  fragile(fragile&&) noexcept = default;
  int number() const noexcept { return number_; }

 private:
  int number_;
  bool fails_;
};

class broadcast_receive_case : public case_base {
 public:
  static constexpr std::string_view name = "broadcast_receiver::receive";
  using awaiters = covers<broadcast_receive_awaiter<fragile>>;
  static constexpr bool ready_at_once = true;
  static constexpr bool one_waiter = true;

  task<void> begin() {
    receiver_.emplace(broadcast_.subscribe());
    co_return;
  }
  auto make() { return receiver_->receive(); }
  void complete() { broadcast_.send(fragile(sent_++, fails_)); }
  void fail() { fails_ = true; }
  ended took(const broadcast_item<fragile>& item) {
    EXPECT_EQ(item->number(), received_++);
    return ended::returned;
  }
  task<void> end() {
    EXPECT_EQ(receiver_->behind(), static_cast<std::uint64_t>(sent_ - received_));
    receiver_.reset();
    co_return;
  }

 private:
  broadcast<fragile> broadcast_{16};
  std::optional<broadcast_receiver<fragile>> receiver_;
  std::atomic<int> sent_{0};
  int received_ = 0;
  bool fails_ = false;
};

/// A reader that has seen the first version; complete() makes the next one.
class watch_base_case : public case_base {
 public:
  static constexpr bool ready_at_once = true;
  static constexpr bool one_waiter = true;

  task<void> begin() {
    reader_.emplace(watch_.subscribe());
    (void)reader_->get();
    co_return;
  }
  void complete() { EXPECT_TRUE(watch_.set(fragile(++set_, fails_))); }
  void fail() { fails_ = true; }
  task<void> end() {
    reader_.reset();
    co_return;
  }

 protected:
  watch<fragile> watch_{0, false};
  std::optional<watch_reader<fragile>> reader_;
  std::atomic<int> set_{0};
  bool fails_ = false;
};

class watch_changed_case : public watch_base_case {
 public:
  static constexpr std::string_view name = "watch_reader::changed";
  using awaiters = covers<watch_changed_awaiter>;
  static constexpr row cells = cannot_fail;

  auto make() { return reader_->changed(); }
  ended took(bool has_changed) {
    EXPECT_TRUE(has_changed);
    EXPECT_GE(reader_->get().number(), 1);
    return ended::returned;
  }
};

class watch_next_case : public watch_base_case {
 public:
  static constexpr std::string_view name = "watch_reader::next";
  using awaiters = covers<watch_next_awaiter<fragile>>;

  auto make() { return reader_->next(); }
  ended took(const std::optional<fragile>& latest) {
    EXPECT_GE(latest->number(), 1);
    return ended::returned;
  }
};

class watch_wait_for_case : public watch_base_case {
 public:
  static constexpr std::string_view name = "watch_reader::wait_for";
  static constexpr on_stop before = on_stop::ends;

  auto make() {
    return reader_->wait_for([](const fragile& latest) { return latest.number() >= 1; });
  }
  auto in_place() { return make(); }
  ended took(const std::optional<fragile>& latest) {
    EXPECT_GE(latest->number(), 1);
    return ended::returned;
  }
};

using cases = ::testing::Types<oneshot_receive_case, oneshot_closed_case, unbounded_receive_case,
                               unbounded_low_case, broadcast_receive_case, watch_changed_case,
                               watch_next_case, watch_wait_for_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(channel_kinds, awaitable, cases, case_names);

}  // namespace channel_kind_rows
}  // namespace tandem::registry
