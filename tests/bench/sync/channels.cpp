// channels.cpp: cases channel_*: items through a bounded channel, by 1, 4 and 16 tasks at each end.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <tandem/channel.hpp>
#include <tandem/task_scope.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<void> send(channel<long>& to, long n, std::atomic<long>& senders) {
  for (long item = 0; item < n; ++item) co_await to.send(item);
  if (senders.fetch_sub(1) == 1) to.close();
}

task<void> receive(channel<long>& from, std::atomic<long>& total) {
  long sum = 0;
  while (const auto item = co_await from.receive()) sum += *item;
  total.fetch_add(sum);
}

template <long Ends>
task<void> exchange(long n) {
  channel<long> items(problems::bound);
  std::atomic<long> senders{Ends}, total{0};
  const long each = n / Ends;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < Ends; ++i) {
      scope.spawn(send(items, each, senders));
      scope.spawn(receive(items, total));
    }
    co_return;
  });
  expect_equal(total.load(), Ends * (each * (each - 1) / 2), "the sum");
}

}  // namespace

void add_channels(case_list& cases) {
  cases.push_back(looped(problems::channel_1_1, exchange<1>));
  cases.push_back(looped(problems::channel_4_4, exchange<4>));
  cases.push_back(looped(problems::channel_16_16, exchange<16>));
  cases.push_back(looped(problems::allocs_channel, exchange<1>));
}

}  // namespace tandem::bench
