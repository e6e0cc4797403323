// asio_pool.cpp: suite pool by Asio: post to a thread_pool, from outside and in its own threads.
// SPDX-License-Identifier: MIT
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <asio/version.hpp>

#include <string>

#include "../pool/problems.hpp"

namespace {

using namespace tandem::bench;
using namespace tandem::bench::pool;

class asio_pool {
 public:
  asio_pool(int threads, long) : pool_(static_cast<std::size_t>(threads)) {}
  ~asio_pool() { pool_.join(); }

  void post(long, long count) {
    for (long i = 0; i < count; ++i) asio::post(pool_, [] { tally::count(); });
  }
  void start(long length) {
    asio::post(pool_, [this, length] {
      if (length > 1) start(length - 1);
      tally::count();
    });
  }

 private:
  asio::thread_pool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  case_list cases;
  for (const problem& each : {post_1, post_4, outside_1, outside_4}) {
    cases.push_back(posted<asio_pool>(each, "asio", "peer"));
  }
  cases.push_back(chained<asio_pool>("asio", "peer"));
  const std::string version = "Asio " + std::to_string(ASIO_VERSION / 100000) + "." +
                              std::to_string(ASIO_VERSION / 100 % 1000) + "." +
                              std::to_string(ASIO_VERSION % 100);
  return run_main(argc, argv, cases, version);
}
