// several_children.cpp: what first_success() must not drop, and what when_each() cannot yield.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/channel.hpp>
#include <tandem/first_success.hpp>
#include <tandem/run.hpp>
#include <tandem/when_each.hpp>

namespace {

tandem::task<int> number() { co_return 1; }
tandem::task<std::string> text() { co_return "text"; }

tandem::task<void> several(tandem::channel<int>& numbers) {
#if defined(TANDEM_CONTROL)
  (void)co_await tandem::first_success(number(), text());
  co_await tandem::for_each(tandem::when_each(number(), number()), [](auto&&) {});
#elif defined(TANDEM_CASE_drops)
  (void)co_await tandem::first_success(number(), numbers.receive());
#elif defined(TANDEM_CASE_types)
  co_await tandem::for_each(tandem::when_each(number(), text()), [](auto&&) {});
#endif
  (void)co_await numbers.receive();
  (void)co_await text();
  (void)co_await number();
}

}  // namespace

int main() {
  tandem::channel<int> numbers(1);
  tandem::run(several(numbers));
}
