// planted_full_channels.cpp: a crawler whose three stages send to each other in a ring, and all queues are full.
// SPDX-License-Identifier: MIT
//
// The mistake: each stage first passes on what the last run has left over, which is more than its
// queue holds, and receives only then. Once all do, nobody makes room for anybody.
#include <atomic>

#include <tandem/channel.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "planted.hpp"

namespace {

using pages = tandem::channel<int>;

struct crawler {
  pages to_fetch{4};
  pages to_parse{4};
  pages to_index{4};

  // The last of three stages to get there.
  void arrived() {
    if (++there_ == 3) planted::stuck();
  }

 private:
  std::atomic<int> there_{0};
};

tandem::task<void> pass_on(crawler& self, pages& out, int left_over) {
  for (int page = 0; page < left_over; ++page) {
    if (out.size() == out.capacity()) self.arrived();
    co_await out.send(page);  // culprit(send): the queue is full, and its reader waits here, too
  }
}

tandem::task<void> work(crawler& self, pages& in, pages& out, int left_over) {
  co_await pass_on(self, out, left_over);
  while (auto page = co_await in.receive()) co_await out.send(*page);
}

tandem::task<int> crawl() {
  crawler self;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(work(self, self.to_fetch, self.to_parse, 10));  // culprit(fetcher): to the parser
    scope.spawn(work(self, self.to_parse, self.to_index, 10));  // culprit(parser): to the indexer
    scope.spawn(work(self, self.to_index, self.to_fetch, 10));  // culprit(indexer): to the fetcher
    co_return;
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(crawl(), planted::options(argc, argv)); }
