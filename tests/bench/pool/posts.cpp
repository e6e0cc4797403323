// posts.cpp: jobs of one's own, posted to the workers one by one, in lots, and from inside. Nothing is allocated.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <vector>

#include "suite.hpp"

namespace tandem::bench::pool {

namespace {

/// One job for each item; they are used again in the next round.
class posts {
 public:
  posts(int threads, long items)
      : jobs_(static_cast<std::size_t>(items), job(&posts::run)), runtime_(fixed(threads)) {}

  void post(long first, long count) {
    worker_pool& workers = runtime_.workers();
    for (long i = first; i < first + count; ++i) {
      workers.post(&jobs_[static_cast<std::size_t>(i)], post_kind::spawn);
    }
  }

 protected:
  static void run(job*) noexcept { tally::count(); }

  std::vector<job> jobs_;
  runtime runtime_;
};

class lots : public posts {
 public:
  using posts::posts;

  void post(long first, long count) {
    for (long i = first; i < first + count; i += lot) {
      job_list items;
      for (long j = i; j < std::min(i + lot, first + count); ++j) {
        items.push_back(&jobs_[static_cast<std::size_t>(j)]);
      }
      runtime_.workers().post_batch(items, post_kind::spawn);
    }
  }
};

/// A chain is one job that posts itself.
class links {
 public:
  links(int threads, long) : runtime_(fixed(threads)) {}

  void start(long length) {
    if (next_ == chains) next_ = 0;
    link& first = links_[static_cast<std::size_t>(next_++)];
    first.home = &runtime_.workers();
    first.left = length;
    first.home->post(&first, post_kind::spawn);
  }

 private:
  struct link : job {
    link() : job(&links::run) {}
    worker_pool* home = nullptr;
    long left = 0;
  };
  static void run(job* self) noexcept {
    link& one = *static_cast<link*>(self);
    if (--one.left > 0) one.home->post(&one, post_kind::spawn);
    tally::count();
  }

  std::array<link, chains> links_;
  int next_ = 0;
  runtime runtime_;
};

}  // namespace

void add_posts(case_list& cases) {
  for (const problem& each : {post_1, post_4, outside_1, outside_4}) {
    cases.push_back(posted<posts>(each, "tandem", "self"));
  }
  for (const problem& each : {post_bulk, outside_bulk}) {
    cases.push_back(posted<lots>(each, "tandem", "self"));
  }
  cases.push_back(chained<links>("tandem", "self"));
}

}  // namespace tandem::bench::pool
