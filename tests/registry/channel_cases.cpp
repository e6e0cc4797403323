// channel_cases.cpp: the rows of semaphore and channel, where what is handed over is counted.
// SPDX-License-Identifier: MIT
#include <optional>
#include <tandem/channel.hpp>
#include <tandem/semaphore.hpp>

#include "case_of.hpp"

namespace tandem::registry {
namespace channel_rows {  // not an unnamed one: g++ warns of frames that hold such types

constexpr row cannot_fail = every_column.without(
    column::exception, "it runs no code that could throw; only a stop ends it");

class semaphore_case : public case_base {
 public:
  static constexpr std::string_view name = "semaphore::acquire";
  using awaiters = covers<semaphore_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  auto make() { return semaphore_.acquire(); }
  void complete() {
    ++released_;
    semaphore_.release();
  }
  ended took() {
    ++taken_;
    return ended::returned;
  }
  task<void> end() {
    EXPECT_EQ(semaphore_.available(), static_cast<std::size_t>(released_ - taken_));
    co_return;
  }

 private:
  semaphore semaphore_{0};
  std::atomic<int> released_{0};
  std::atomic<int> taken_{0};
};

/// One permit, which each holder gives back as it goes.
class scoped_semaphore_case : public case_base {
 public:
  static constexpr std::string_view name = "semaphore::scoped";
  using awaiters = covers<scoped_semaphore_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  auto make() { return semaphore_.scoped(); }
  void complete() {
    if (!completed_.exchange(true)) semaphore_.release();
  }
  ended took(const semaphore_permit& permit) {
    EXPECT_EQ(permit.count(), 1U);
    return ended::returned;
  }
  task<void> end() {
    EXPECT_EQ(semaphore_.available(), completed_ ? 1U : 0U);
    co_return;
  }

 private:
  semaphore semaphore_{0};
  std::atomic<bool> completed_{false};
};

/// A full channel of one place; complete() makes room by taking a value.
class send_case : public case_base {
 public:
  static constexpr std::string_view name = "channel::send";
  using awaiters = covers<send_awaiter<int>>;
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  task<void> begin() {
    EXPECT_TRUE(channel_.try_send(0));
    co_return;
  }
  auto make() { return channel_.send(std::move(value_)); }
  void complete() {
    if (fails_) return channel_.close();
    if (channel_.try_receive().has_value()) ++received_;
  }
  void fail() { fails_ = true; }
  ended took() {
    ++sent_;
    return ended::returned;
  }
  task<void> end() {
    EXPECT_EQ(channel_.size(), static_cast<std::size_t>(1 + sent_ - received_));
    co_return;
  }

 protected:
  channel<int> channel_{1};

 private:
  int value_ = 7;
  bool fails_ = false;
  std::atomic<int> sent_{0};
  std::atomic<int> received_{0};
};

class send_copy_case : public send_case {
 public:
  static constexpr std::string_view name = "channel::send of a copy";
  using awaiters = covers<send_copy_awaiter<int>>;
  auto make() {
    const int copied = 7;
    return channel_.send(copied);
  }
};

class receive_case : public case_base {
 public:
  static constexpr std::string_view name = "channel::receive";
  using awaiters = covers<receive_awaiter<int>>;
  static constexpr row cells = every_column.without(
      column::exception, "a closed channel yields an empty value, and nothing else can go wrong");
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  auto make() { return channel_.receive(); }
  void complete() {
    ++sent_;
    EXPECT_TRUE(channel_.try_send(7));
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
  channel<int> channel_{16};
  std::atomic<int> sent_{0};
  std::atomic<int> received_{0};
};

using cases = ::testing::Types<semaphore_case, scoped_semaphore_case, send_case, send_copy_case,
                               receive_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(channel, awaitable, cases, case_names);

}  // namespace channel_rows
}  // namespace tandem::registry
