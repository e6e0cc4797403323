// gcc12_good.cpp: close to the forms that g++ 12 miscompiles, and fine: nothing is found here.
// SPDX-License-Identifier: MIT
#include "gcc12_forms.hpp"

namespace forms {

task<person> somebody() { co_return person{"a", 1}; }

task<int> aggregates(std::string s) {
  person named{s, 1};
  int sum = co_await use(std::move(named));
  sum += co_await use(point{1, 2});
  sum += co_await use(pet{s, 1});
  sum += co_await use(pet(co_await name(), 1));
  sum += co_await use(std::string{s});
  person got = co_await somebody();
  std::string braced{co_await name()};
  point holds{co_await use(1), 2};
  sum += person{s, 1}.age;
  auto [text, age] = co_await somebody();
  co_return sum + holds.x + age + got.age;
}

task<int> lambdas(std::string s, int n) {
  auto named = [s] { return s; };
  int sum = co_await use(named);
  sum += co_await use([&] { return s; });
  sum += co_await use([n] { return n; });
  sum += co_await [&]() -> task<int> {
    person inside{s, 1};
    std::string one = n > 1 ? s : make();
    std::vector<std::string> list{"a", "b"};
    co_return co_await use(inside.age);
  }();
  auto waits = [&]() -> task<int> { co_return co_await use(n); };
  sum += co_await waits();
  auto keeps = [s]() -> task<int> { co_return co_await use(static_cast<int>(s.size())); };
  sum += co_await keeps();
  sum += co_await call(keeps);
  sum += co_await look_at(keeps);
  sum += co_await call([&] { return call([s]() -> task<int> { co_return 1; }); });
  take([s]() -> task<int> { co_return co_await use(static_cast<int>(s.size())); });
  task<int> later = call([s]() -> task<int> { co_return static_cast<int>(s.size()); });
  for (int each : {1, 2})
    take([s, each]() -> task<int> { co_return static_cast<int>(s.size()) + each; });
  co_return sum + co_await later;
}

// No coroutine itself.
task<int> calls_lambdas(std::string s) {
  auto named = [s]() -> task<int> { co_return static_cast<int>(s.size()); };
  auto init = [t = s + s]() -> task<int> { co_return co_await look_at(t); };
  take([named] { return named(); });
  job whole{s, [named]() -> task<int> { co_return co_await named(); }};
  task<int> either = s.empty() ? call([named]() -> task<int> { co_return 1; }) : whole.work();
  take([named]() -> task<int> { co_return co_await named(); });
  return call(init);
}

task<int> conditionals(bool b, std::string s, std::string t) {
  int sum = co_await use(b ? 1 : 2);
  sum += co_await use(b ? s : t);
  sum += co_await use(b ? std::move(s) : std::move(t));
  sum += co_await use(std::string(b ? "a" : "b"));
  sum += co_await use(b ? point{1, 2} : point{2, 1});
  sum += b ? co_await use(1) : co_await look_at(make());
  if (b && co_await look_at(make())) ++sum;
  std::string chosen = b ? s : make();
  sum += co_await use(std::move(chosen));
  co_return (b ? s : make()).empty() ? sum : 0;
}

task<int> lists() {
  std::vector<std::string> named{"a", "b"};
  int sum = co_await count(std::move(named));
  for (int each : {1, 2}) sum += co_await use(each);
  co_return sum;
}

// Anything that is declared makes a scope: a variable in a block, of a loop or that is caught, a type, a lambda.
task<int> named_condition() {
  const int n = co_await use(1);
  if (n > 0) co_return 1;
  if (co_await use(n)) co_return 2;
  co_return 0;
}
task<int> declared_in_a_block() {
  if (co_await use(1)) {
    int inside = 1;
    co_return inside;
  }
  co_return 0;
}
task<int> declared_in_the_condition() {
  if (int got = co_await use(1)) co_return got;
  co_return 0;
}
task<int> declared_by_a_loop() {
  for (int i = 0; i < 2; ++i) {
    if (co_await use(1)) co_return 1;
  }
  co_return 0;
}
task<int> declared_by_a_catch() {
  try {
    if (co_await use(1)) co_return 1;
  } catch (int number) {
    number = 0;
  }
  co_return 0;
}
task<int> declares_a_type() {
  using number = int;
  if (co_await use(number(1))) co_return 1;
  co_return 0;
}
task<int> has_a_lambda() {
  if (co_await use([] { return 1; }())) co_return 1;
  co_return 0;
}
task<int> is_a_lambda() {
  return []() -> task<int> {
    if (co_await use(1)) co_return 1;
    co_return 0;
  }();
}
task<int> awaits_before_a_condition(bool b) {
  co_await use(1);
  if (b) co_return co_await use(2);
  co_return b ? co_await use(3) : co_await use(4);
}

stream<std::string> yields(bool b, std::string s) {
  std::string chosen = b ? s : make();
  co_yield chosen;
  co_yield make() + s;
  co_yield "c";
  for (const std::string& each : {s, chosen}) co_yield each;
}
stream<person> yields_named(std::string s) {
  person named{s, 1};
  co_yield std::move(named);
}
stream<int> yields_all_of(std::string s) {
  auto name = [s] { return s; };
  co_yield numbers() | map(name);
  co_yield numbers() | map([&] { return s; }) | map([] { return make(); });
}
task<int> takes_streams(std::string s) {
  auto named = [s] { return s; };
  int sum = co_await for_each(numbers(), named);
  sum += co_await for_each(numbers() | map([&] { return s; }), [&s] { return s; });
  co_return sum;
}
task<int> selects(std::string s) {
  hit one = co_await select(sends(s), sends(make()), sends(pet{s, 1}.name));
  co_return one.visit([s] { return s; }, [&] { return s; });
}

task<int> awaiters() {
  int sum = co_await immovable(1);
  alignas(16) char bytes[32] = {};
  sum += co_await use(1);
  co_return sum + bytes[0];
}

}  // namespace forms
