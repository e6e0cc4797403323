// planted_full_blocking_pool.cpp: both threads for calls that block do so for ever, and six calls wait for one.
// SPDX-License-Identifier: MIT
//
// The mistake: calls to a share of the network that is gone have no time limit, and two threads were
// thought to be enough.
#include <atomic>
#include <cstdio>
#include <future>

#include <tandem/blocking.hpp>
#include <tandem/latch.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "planted.hpp"

namespace {

constexpr int thumbnails = 6;

struct share {
  std::promise<void> back;  // the network's, which never is
  tandem::latch scans{2};

  // The last of the thumbnails to get there.
  void arrived() {
    if (++there_ == thumbnails) planted::stuck();
  }

 private:
  std::atomic<int> there_{0};
};

tandem::task<void> scan(share& self, std::shared_future<void> back) {
  const auto read_folder = [&] {
    self.scans.count_down();
    back.wait();
  };
  co_await tandem::blocking(read_folder);  // culprit(scanning): it never returns
}

tandem::task<void> draw(share& self, int number) {
  self.arrived();
  const auto write_file = [&] { std::printf("thumbnail %d\n", number); };
  co_await tandem::blocking(write_file);  // culprit(drawing): no thread is free
}

tandem::task<int> gallery() {
  share self;
  const std::shared_future<void> back = self.back.get_future().share();
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int folder = 0; folder < 2; ++folder) {
      scope.spawn(scan(self, back));  // culprit(scan): these have the threads
    }
    co_await self.scans.wait();
    for (int number = 0; number < thumbnails; ++number) {
      scope.spawn(draw(self, number));  // culprit(draw): these wait for one
    }
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tandem::runtime_options options = planted::options(argc, argv);
  options.blocking.max_threads = 2;
  return tandem::run(gallery(), options);
}
