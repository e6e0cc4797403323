// streams.cpp: cases generator_item, stream_item and stream_3: items that are there at once.
// SPDX-License-Identifier: MIT
#include <tandem/generator.hpp>
#include <tandem/streams.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

generator<long> counted(long n) {
  for (long i = 0; i < n; ++i) co_yield i;
}
stream<long> streamed(long n) {
  for (long i = 0; i < n; ++i) co_yield i;
}

task<void> generate(long n) {
  long sum = 0;
  for (const long item : counted(n)) sum += item;
  expect_equal(sum, n * (n - 1) / 2, "the sum");
  co_return;
}

task<void> take_items(long n) {
  long sum = 0;
  co_await for_each(streamed(n), [&](long item) { sum += item; });
  expect_equal(sum, n * (n - 1) / 2, "the sum");
}

task<void> take_through_three(long n) {
  long sum = 0;
  auto items = streamed(n) | streams::map([](long item) { return item + 1; }) |
               streams::filter([](long item) { return item != 0; }) |
               streams::map([](long item) { return 2 * item; });
  co_await for_each(std::move(items), [&](long item) { sum += item; });
  expect_equal(sum, n * (n + 1), "the sum");
}

}  // namespace

void add_streams(case_list& cases) {
  cases.push_back(looped(problems::generator_item, generate));
  cases.push_back(looped(problems::stream_item, take_items));
  cases.push_back(looped(problems::stream_3, take_through_three));
  cases.push_back(looped(problems::allocs_stream, take_through_three));
}

}  // namespace tandem::bench
