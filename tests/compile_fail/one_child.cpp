// one_child.cpp: a user's combinators with a single child, which must not draw a warning.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/race.hpp>
#include <tandem/run.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <tandem/yield.hpp>

namespace {

tandem::task<int> number() {
  co_await tandem::yield();
  co_return 1;
}
tandem::task<void> nothing() { co_await tandem::yield(); }
tandem::task<std::string> text() { co_return "text"; }

tandem::task<int> one_of_each() {
  const auto [all] = co_await tandem::when_all(number());
  co_await tandem::when_all(nothing());
  (void)co_await tandem::when_all(text());
  (void)co_await tandem::when_any(number());
  const int winner = co_await tandem::race(number());
  (void)co_await tandem::when_all(number(), text());
  co_return all - winner;
}

}  // namespace

int main() { return tandem::run(one_of_each()); }
