// submissions.cpp: cases submit_bounded, submit_bounded_4: through a bounded queue, with backpressure by running here or by waiting.
// SPDX-License-Identifier: MIT
#include <tandem/task.hpp>

#include "suite.hpp"

namespace tandem::bench::pool {

namespace {

task<void> counted() {
  tally::count();
  co_return;
}

runtime_options bounded(int threads, saturation_policy policy) {
  runtime_options options = fixed(threads);
  options.submissions.queue = queue_kind::bounded;
  options.submissions.capacity = queue_capacity;
  options.submissions.when_saturated = policy;
  return options;
}

class caller_runs {
 public:
  caller_runs(int threads, long) : runtime_(bounded(threads, saturation_policy::caller_runs)) {}

  void post(long, long count) {
    for (long i = 0; i < count; ++i) runtime_.workers().submit(counted()).detach();
  }

 private:
  runtime runtime_;
};

/// The producer is a task of another runtime, with a worker of its own.
class suspends {
 public:
  suspends(int threads, long)
      : runtime_(bounded(threads, saturation_policy::suspend)), producer_(fixed(1)) {}

  void post(long, long count) { producer_.spawn(produce(runtime_.workers(), count)).wait(); }

 private:
  static task<void> produce(worker_pool& into, long count) {
    for (long i = 0; i < count; ++i) {
      join_handle<void> taken = co_await into.submit_when_free(counted());
      taken.detach();
    }
  }

  runtime runtime_;
  runtime producer_;
};

}  // namespace

void add_submissions(case_list& cases) {
  cases.push_back(posted<caller_runs>(submit_bounded, "tandem", "self"));
  cases.push_back(posted<caller_runs>(submit_bounded_4, "tandem", "self"));
  cases.push_back(posted<suspends>(submit_bounded, "tandem_suspend", "self"));
}

}  // namespace tandem::bench::pool
