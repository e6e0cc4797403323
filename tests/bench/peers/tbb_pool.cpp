// tbb_pool.cpp: suite pool by oneTBB: task_arena::enqueue from outside, task_group in items that post items.
// SPDX-License-Identifier: MIT
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include <string>

#include "../pool/problems.hpp"

namespace {

using namespace tandem::bench;
using namespace tandem::bench::pool;

/// No place is kept for the threads that post: they never work in the arena.
class arena {
 public:
  arena(int threads, long)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 1),
        arena_(threads, 0) {}
  ~arena() {
    arena_.execute([this] { group_.wait(); });
  }

  void post(long, long count) {
    for (long i = 0; i < count; ++i) arena_.enqueue([] { tally::count(); });
  }
  void start(long length) {
    arena_.enqueue([this, length] { link(length); });
  }

 private:
  void link(long left) {
    if (left > 1) group_.run([this, left] { link(left - 1); });
    tally::count();
  }

  tbb::global_control limit_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

}  // namespace

int main(int argc, char** argv) {
  case_list cases;
  for (const problem& each : {post_1, post_4, outside_1, outside_4}) {
    cases.push_back(posted<arena>(each, "tbb", "peer"));
  }
  cases.push_back(chained<arena>("tbb", "peer"));
  return run_main(argc, argv, cases, std::string("oneTBB ") + TBB_runtime_version());
}
