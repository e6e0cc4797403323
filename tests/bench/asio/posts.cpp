// posts.cpp: suite asio: functions posted to the workers through Asio's interface, and to its own thread_pool.
// SPDX-License-Identifier: MIT
#include <tandem/asio.hpp>
#include <tandem/runtime.hpp>

#include "suite.hpp"

namespace tandem::bench::interop {

namespace {

using pool::tally;

/// Posts to `executor()` of a Target.
template <class Target>
class posts {
 public:
  posts(int threads, long /*items*/) : target_(threads) {}

  void post(long /*first*/, long count) {
    for (long i = 0; i < count; ++i) asio::post(target_.executor(), [] { tally::count(); });
  }
  void start(long length) {
    asio::post(target_.executor(), [this, length] {
      if (length > 1) start(length - 1);
      tally::count();
    });
  }

 private:
  Target target_;
};

class workers_of_tandem {
 public:
  explicit workers_of_tandem(int threads) : runtime_(options(threads)) {}
  asio_executor executor() { return asio_executor(runtime_.workers()); }

 private:
  static runtime_options options(int threads) {
    runtime_options chosen;
    chosen.min_threads = static_cast<unsigned>(threads);
    chosen.max_threads = static_cast<unsigned>(threads);
    return chosen;
  }
  runtime runtime_;
};

class pool_of_asio {
 public:
  explicit pool_of_asio(int threads) : pool_(static_cast<std::size_t>(threads)) {}
  ~pool_of_asio() { pool_.join(); }
  asio::thread_pool::executor_type executor() { return pool_.get_executor(); }

 private:
  asio::thread_pool pool_;
};

}  // namespace

void add_posts(case_list& cases) {
  for (const pool::problem& each : {pool::post_1, pool::outside_1, pool::outside_4}) {
    cases.push_back(pool::posted<posts<workers_of_tandem>>(each, "tandem", "self"));
    cases.push_back(pool::posted<posts<pool_of_asio>>(each, "asio", "peer"));
  }
  cases.push_back(pool::chained<posts<workers_of_tandem>>("tandem", "self"));
  cases.push_back(pool::chained<posts<pool_of_asio>>("asio", "peer"));
}

}  // namespace tandem::bench::interop
