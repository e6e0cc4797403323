// items_of_a_stream.cpp: a stream's items are taken where its end is awaited, and nowhere else.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/event.hpp>
#include <tandem/race.hpp>
#include <tandem/run.hpp>
#include <tandem/streams.hpp>

namespace {

tandem::stream<int> numbers() {
  co_yield 1;
#if !defined(TANDEM_CONTROL) && defined(TANDEM_CASE_elements)
  co_yield tandem::elements_of(numbers() | tandem::streams::map([](int) { return std::string(); }));
#endif
}

tandem::task<int> never(tandem::event& e) {
  co_await e.wait();
  co_return 0;
}

tandem::task<void> take(const std::string& name) {
  tandem::event e(true);
  auto made = numbers();
#if defined(TANDEM_CONTROL)
  co_await tandem::for_each(std::move(made), [](int) {});
#elif defined(TANDEM_CASE_next)
  (void)co_await made.next();
#elif defined(TANDEM_CASE_awaited)
  co_await numbers() | tandem::streams::collect();
#elif defined(TANDEM_CASE_flow)
  co_await tandem::for_each(std::move(made), [](int i) { return i == 3; });
#elif defined(TANDEM_CASE_argument)
  co_await tandem::for_each(
      std::move(made) | tandem::streams::map([](int i, int j) { return i + j; }), [](int) {});
#elif defined(TANDEM_CASE_race)
  co_await tandem::with_stream(std::move(made), [&](auto& items) -> tandem::task<void> {
    (void)co_await tandem::race(items.next(), never(e));
  });
#elif defined(TANDEM_CASE_captures)
  co_await tandem::for_each(std::move(made) | tandem::streams::filter([name](int i) {
                              return i != static_cast<int>(name.size());
                            }),
                            [](int) {});
#endif
  co_await never(e);
  co_await never(e);
  (void)name;
}

}  // namespace

int main() { tandem::run(take("a name")); }
