// gcc12_bad.cpp: each form that g++ 12 miscompiles, one a line; gcc12_check has to find each.
// SPDX-License-Identifier: MIT
//
// The comment behind a line is what is found in it, and the only thing.
#include "gcc12_forms.hpp"

namespace forms {

task<int> aggregates(std::string s) {
  int sum = 0;
  sum += co_await use(person{s, 1});                         // finds: aggregate
  sum += co_await look_at(person{s, 1});                     // finds: aggregate
  sum += co_await use(person(s, 1));                         // finds: aggregate
  sum += co_await greeting{s};                               // finds: aggregate
  sum += co_await use<person>({s, 1});                       // finds: aggregate
  sum += co_await use(std::optional<person>(person{s, 1}));  // finds: aggregate
  sum += co_await greet();                                   // finds: aggregate
  sum += person{s, 1}.age + co_await use(1);                 // finds: aggregate
  person with_await{co_await name(), 1};                     // finds: aggregate
  co_return sum + with_await.age;
}

task<int> lambdas(std::string s) {
  int sum = 0;
  sum += co_await use([s] { return s; });                                // finds: lambda
  sum += co_await look_at([s] { return s; });                            // finds: lambda
  sum += co_await use(std::function<std::string()>([s] { return s; }));  // finds: lambda
  sum += co_await [s] { return use(s); }();                              // finds: lambda
  sum += co_await [s]() -> task<int> { co_return 1; }();                 // finds: lambda
  sum += co_await use([t = std::move(s)] { return t; });                 // finds: lambda
  sum += co_await call([s]() -> task<int> { co_return 1; });             // finds: lambda
  auto named = [z = co_await name()] { return z; };                      // finds: lambda
  auto waits = [z = co_await name()]() -> task<int> { co_return 1; };    // finds: lambda
  auto inner = [&]() -> task<int> {
    auto late = [z = co_await name()]() -> task<int> { co_return 1; };  // finds: lambda
    co_return co_await call([s]() -> task<int> { co_return 1; });       // finds: lambda
  };
  co_return sum + static_cast<int>(named().size()) + co_await waits() + co_await inner();
}

task<int> conditionals(bool b, std::string s) {
  int sum = 0;
  sum += co_await use(b ? s : make());                     // finds: conditional
  sum += co_await look_at(b ? make() : std::string("c"));  // finds: conditional
  sum += co_await (b ? use(1) : use(2));                   // finds: conditional
  sum += co_await (b ? immovable(1) : immovable(2));       // finds: conditional
  std::string t = b ? co_await name() : co_await name();   // finds: conditional
  t = b ? co_await name() : make();                        // finds: conditional
  t = co_await use(1) ? make() : std::string("d");         // finds: conditional
  co_return sum;
}

template <typename T>
task<int> in_a_template(bool b, T t) {
  co_return co_await use(b ? t : T());  // finds: conditional
}
task<int> instance(std::string s) { return in_a_template(true, std::move(s)); }

stream<std::string> yields(bool b, std::string s) {
  co_yield b ? s : make();                        // finds: conditional
  co_yield person{s, 1}.name;                     // finds: aggregate
  co_yield use([s] { return s; }).frame ? s : s;  // finds: lambda
}
stream<person> yields_aggregates(std::string s) {
  co_yield person{s, 1};  // finds: aggregate
}
stream<int> yields_all_of(bool b, std::string s) {
  co_yield numbers() | map([s] { return s; });                        // finds: lambda
  co_yield (b ? numbers() : numbers() | map([] { return make(); }));  // finds: conditional
}
task<int> takes_streams(std::string s) {
  int sum = co_await for_each(numbers(), [s] { return s; });  // finds: lambda
  auto f = [] { return make(); };
  sum += co_await for_each(numbers() | map([s] { return s; }), f);  // finds: lambda
  co_return sum;
}
task<int> selects(bool b, std::string s) {
  hit one = co_await select(sends(b ? s : make()), sends("c"));    // finds: conditional
  one = co_await select(sends(person{s, 1}), sends("c"));          // finds: aggregate
  co_return (co_await select(sends(s))).visit([s] { return s; });  // finds: lambda
}

#ifdef __clang__
// g++ 12 refuses these, with a message that tells nothing.
task<int> lists() {
  int sum = co_await count({"a", "b"});                      // finds: list
  std::vector<int> holds{co_await use(1), co_await use(2)};  // finds: list
  co_return sum + holds[0];
}
#endif

// Nothing is declared in these bodies; parameters do not count.
task<int> only_an_if(int n) {
  if (co_await use(n)) co_return 1;  // finds: condition
  co_return 0;
}
task<int> loops() {
  while (co_await use(1)) co_return 1;   // finds: condition
  for (; co_await use(1);) co_return 1;  // finds: condition
  do look_at(1);                         // finds: condition
  while (co_await use(1));
  co_return 0;
}
task<int> choices(bool b) {
  static_assert(sizeof(int) > 1);
  if (b && !co_await use(1)) co_return 1;  // finds: condition
  switch (co_await use(1)) {               // finds: condition
    case 1: co_return 2;
    default: co_return 3;
  }
}
task<int> in_blocks(bool b) {
  try {
    if (b) {
      if (co_await use(1)) co_return 1;  // finds: condition
    }
  } catch (...) {}
  co_return 0;
}
task<int> whole_try() try {
  if (co_await use(1)) co_return 1;  // finds: condition
  co_return 0;
} catch (...) {}
struct conditions {
  template <typename T>
  task<int> in_a_template(T t) {
    if (co_await look_at(t)) co_return 1;  // finds: condition
    co_return 0;
  }
};
task<int> instance_of_condition(std::string s) { return conditions().in_a_template(std::move(s)); }

task<int> wide_local() {  // finds: alignment
  wide w{};
  co_await use(1);
  co_return w.bytes[0];
}
task<int> wide_awaiter() { co_return co_await wide(); }  // finds: alignment

}  // namespace forms
