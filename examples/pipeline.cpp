// pipeline.cpp: stages joined by channels; a slow consumer slows down a fast producer.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>
#include <tandem/channel.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

using namespace std::chrono_literals;

struct sample {
  int consumed;
  std::size_t raw_queued;
  std::size_t text_queued;
};

tandem::task<void> produce(tandem::channel<int>& out, int count, int& produced) {
  for (int i = 1; i <= count; ++i) {
    co_await out.send(i);  // waits while the queue is full: that is the backpressure
    produced = i;
  }
  out.close();
}

tandem::task<void> format(tandem::channel<int>& in, tandem::channel<std::string>& out) {
  while (auto number = co_await in.receive()) {
    co_await out.send("item " + std::to_string(*number));
  }
  out.close();
}

tandem::task<int> pipeline() {
  constexpr std::size_t bound = 4;
  constexpr int count = 40;
  tandem::channel<int> raw(bound);
  tandem::channel<std::string> text(bound);
  int produced = 0;  // read after the scope has ended
  int consumed = 0;
  std::vector<sample> samples;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(produce(raw, count, produced));
    scope.spawn(format(raw, text));
    while (auto line = co_await text.receive()) {
      ++consumed;
      co_await tandem::sleep_for(1ms);  // slow: everything before it has to wait
      if (consumed % 10 == 0) samples.push_back({consumed, raw.size(), text.size()});
    }
  });
  int mistakes = consumed == count && produced == count ? 0 : 1;
  std::cout << "consumed  raw queue  text queue   (at most " << bound << ")\n";
  for (const sample& each : samples) {
    std::cout << std::setw(8) << each.consumed << std::setw(11) << each.raw_queued << std::setw(12)
              << each.text_queued << '\n';
    if (std::max(each.raw_queued, each.text_queued) > bound) ++mistakes;
  }
  co_return mistakes;
}

int main() {
  const int mistakes = tandem::run(pipeline());
  std::cout << (mistakes == 0 ? "as expected\n" : "something is wrong\n");
  return mistakes == 0 ? 0 : 1;
}
