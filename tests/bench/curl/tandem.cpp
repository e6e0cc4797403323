// tandem.cpp: curl_tandem URL AT-ONCE COUNT [collect|paused]: so many downloads of one URL by tandem::io_curl, so many at once.
// SPDX-License-Identifier: MIT
//
// The bytes are counted as they come; with `collect` each body is a string, as get() makes it. `paused`: so many transfers
// are begun and not read, and as many connections are idle; how often anybody wakes up in COUNT seconds is printed.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <tandem/io/curl.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

namespace {

using tandem::task;
namespace curl = tandem::io::curl;

class load {
 public:
  const char* url;
  unsigned at_once;
  std::uint64_t left;
  bool collects;
  std::uint64_t bytes = 0;
};

task<void> lane(curl::session& session, load& all) {
  while (all.left != 0) {
    --all.left;
    curl::request asked(all.url);
    asked.raise_for_status = true;
    if (!all.collects) {
      asked.on_body = [&all](std::span<const std::byte> piece) { all.bytes += piece.size(); };
    }
    const curl::response page = co_await session.send(std::move(asked));
    all.bytes += page.body.size();
  }
}

long switches() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

task<void> stay_paused(load& all) {
  co_await curl::with_session([&](curl::session& session) -> task<void> {
    std::vector<curl::transfer> idle;
    std::vector<curl::transfer> paused;
    for (unsigned i = 0; i < all.at_once; ++i) {
      idle.push_back(co_await session.open(curl::request(all.url)));
      paused.push_back(co_await session.open(curl::request(all.url)));
    }
    std::vector<std::byte> room(1 << 16);
    for (curl::transfer& each : idle) {
      while (true) {
        const std::size_t size = co_await each.read(room);
        if (size == 0) break;
        all.bytes += size;
      }
    }
    co_await tandem::sleep_for(std::chrono::seconds(2));  // for what had been under way
    const std::uint64_t wake_ups = session.stats().wake_ups;
    const long before = switches();
    co_await tandem::sleep_for(std::chrono::seconds(all.left));
    const long after = switches();
    std::printf("%llu wake-ups of curl, %ld switches of all threads, %llu connections\n",
                static_cast<unsigned long long>(session.stats().wake_ups - wake_ups),
                after - before,
                static_cast<unsigned long long>(session.stats().connections_opened));
  });
}

task<void> run_all(load& all) {
  curl::session_options options;
  options.max_idle_connections = all.at_once;
  co_await curl::with_session(options, [&](curl::session& session) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (unsigned i = 0; i < all.at_once; ++i)
        scope.spawn(session.executor(), lane(session, all));
      co_return;
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  load all{argv[1], static_cast<unsigned>(std::atoi(argv[2])),
           static_cast<std::uint64_t>(std::atoll(argv[3])),
           argc > 4 && std::string_view(argv[4]) == "collect"};
  const bool is_paused = argc > 4 && std::string_view(argv[4]) == "paused";
  try {
    tandem::run(is_paused ? stay_paused(all) : run_all(all));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return all.bytes != 0 ? 0 : 1;
}
