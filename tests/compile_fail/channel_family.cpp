// channel_family.cpp: ends are not copied, values not lost, and not moved by what may throw.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <memory>
#include <string>
#include <tandem/broadcast.hpp>
#include <tandem/channel.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/race.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/watch.hpp>
#include <utility>

namespace {

using namespace std::chrono_literals;

/// Its move may throw.
struct heavy {
  heavy() = default;
  heavy(heavy&& /*other*/) noexcept(false) {}
};

tandem::task<void> uses() {
  tandem::oneshot<int> answer;
  tandem::channel<int> work(1);
  tandem::unbounded_channel<int> log;
  tandem::broadcast<std::string> news(4);
  tandem::watch<std::string> state("new");
  auto feed = news.subscribe();
  auto reader = state.subscribe();
#if defined(TANDEM_CONTROL)
  auto sender = std::move(answer.sender);
  auto receiver = std::move(answer.receiver);
  tandem::oneshot<std::unique_ptr<int>> pointer;
  tandem::channel<std::unique_ptr<int>> pointers(1);
  tandem::unbounded_channel<std::unique_ptr<int>> more;
  tandem::broadcast<std::shared_ptr<const int>> shared(4);
  const auto name = [&](const std::string& now) { return now == state.get(); };
  co_await reader.wait_for(name);
  sender.send(7);
  (void)co_await receiver.receive();
#elif defined(TANDEM_CASE_sender)
  auto sender = answer.sender;
#elif defined(TANDEM_CASE_receiver)
  auto receiver = answer.receiver;
#elif defined(TANDEM_CASE_channel)
  auto other = std::move(work);
#elif defined(TANDEM_CASE_race_oneshot)
  (void)co_await tandem::race(answer.receiver.receive(), tandem::sleep_for(1s));
#elif defined(TANDEM_CASE_race_unbounded)
  (void)co_await tandem::race(log.receive(), tandem::sleep_for(1s));
#elif defined(TANDEM_CASE_race_broadcast)
  (void)co_await tandem::race(feed.receive(), tandem::sleep_for(1s));
#elif defined(TANDEM_CASE_heavy_oneshot)
  tandem::oneshot<heavy> other;
#elif defined(TANDEM_CASE_heavy_unbounded)
  tandem::unbounded_channel<heavy> other;
#elif defined(TANDEM_CASE_heavy_watch)
  tandem::watch<heavy> other;
#elif defined(TANDEM_CASE_no_copy)
  tandem::broadcast<std::unique_ptr<int>> other(4);
#elif defined(TANDEM_CASE_end)
  (void)co_await answer.receiver;
#elif defined(TANDEM_CASE_captures)
  std::string wanted = "open";
  (void)co_await reader.wait_for([wanted](const std::string& now) { return now == wanted; });
#endif
  co_return;
}

}  // namespace

int main() { tandem::run(uses()); }
