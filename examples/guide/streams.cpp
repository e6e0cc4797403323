// streams.cpp: async generators: made, taken, put together, and left.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <string>
#include <tandem/generator.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/streams.hpp>
#include <vector>

using namespace std::chrono_literals;
using tandem::elements_of;
using tandem::flow;
using tandem::generator;
using tandem::stream;
using tandem::task;
namespace streams = tandem::streams;

// Stands for a database's answer, which comes row by row.
class query {
 public:
  explicit query(int rows) : left_(rows) { ++open; }
  task<bool> fetch(std::string& row) {
    co_await tandem::sleep_for(1ms);
    row = "row " + std::to_string(left_);
    co_return left_-- > 0;
  }
  task<void> close() {
    co_await tandem::sleep_for(1ms);
    --open;
  }
  inline static int open = 0;

 private:
  int left_;
};

// Synchronous, for any function.
generator<long> fibonacci() {
  long a = 0, b = 1;
  while (true) {
    co_yield a;
    a = std::exchange(b, a + b);
  }
}

// What the loop is, and what has to happen after it.
stream<std::string> fetched(query& q) {
  std::string row;
  while (co_await q.fetch(row)) co_yield std::move(row);
}
stream<std::string> rows(int count) {
  query q(count);
  co_yield elements_of(fetched(q) | streams::finally([&q] { return q.close(); }));
}

task<std::string> first_of(int count) {
  co_return co_await tandem::with_stream(rows(count), [](auto& all) -> task<std::string> {
    const auto* const first = co_await all.next();
    co_return first != nullptr ? *first : "nothing";
  });
}

task<std::string> fetch(std::string url) {
  co_await tandem::sleep_for(1ms);
  co_return url + ": a page";
}

task<int> long_pages(const std::vector<std::string>& urls) {
  auto pages = streams::from(urls) | streams::buffered(8, fetch) |
               streams::filter([](const std::string& page) { return page.size() > 10; });
  int count = 0;
  co_await tandem::for_each(std::move(pages), [&](const std::string& page) {
    std::printf("%s\n", page.c_str());
    return ++count == 2 ? flow::leave : flow::go_on;
  });
  co_return count;
}

task<std::size_t> in_batches() {
  auto batches = streams::merge(rows(5), rows(7)) | streams::chunks(4, 50ms);
  co_return co_await (std::move(batches) | streams::map([](const std::vector<std::string>& batch) {
                        return batch.size();
                      }) |
                      streams::fold(std::size_t{0}, std::plus<>()));
}

task<bool> all_of_them() {
  long last = 0;
  for (long each : fibonacci()) {
    if (each > 1000) break;
    last = each;
  }
  const std::string first = co_await first_of(3);
  const bool closed_at_once = query::open == 0;
  const std::vector<std::string> urls{"a", "b.com", "c.com", "d.com"};
  const int shown = co_await long_pages(urls);
  const std::size_t taken = co_await in_batches();
  co_return last == 987 && first == "row 3" && closed_at_once&& shown == 2 && taken == 12 &&
      query::open == 0;
}

int main() {
  const bool ok = tandem::run(all_of_them());
  std::printf("%s\n", ok ? "as the chapter says" : "not as the chapter says");
  return ok ? 0 : 1;
}
