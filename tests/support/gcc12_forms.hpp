// gcc12_forms.hpp: what the examples of forms for gcc12_check have in common.
// SPDX-License-Identifier: MIT
//
// A task of its own, with as little around it as does: the check knows nothing of tandem.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forms {

template <typename T>
struct task {
  struct promise_type {
    std::optional<T> value;
    task get_return_object() { return task(*this); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void unhandled_exception() { std::terminate(); }
    template <typename U>
    void return_value(U&& given) {
      value.emplace(std::forward<U>(given));
    }
  };
  explicit task(promise_type& p) : frame(std::coroutine_handle<promise_type>::from_promise(p)) {}
  task(task&& from) noexcept : frame(std::exchange(from.frame, {})) {}
  ~task() {
    if (frame) frame.destroy();
  }
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<>) { return frame.resume(), false; }
  T await_resume() { return std::move(*frame.promise().value); }
  std::coroutine_handle<promise_type> frame;
};

// An aggregate with a non-trivial member, one without, and a class with a constructor.
struct person {
  std::string name;
  int age;
};
struct point {
  int x, y;
};
struct pet {
  pet(std::string n, int a) : name(std::move(n)), age(a) {}
  std::string name;
  int age;
};
struct nobody {
  std::string name = {};
};
struct greeting {
  std::string text;
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return static_cast<int>(text.size()); }
};
struct immovable {
  explicit immovable(int) {}
  immovable(const immovable&) = delete;
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return 1; }
};
struct alignas(32) wide {
  char bytes[32];
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return bytes[0]; }
};

template <typename T>
task<int> use(T) {
  co_return 1;
}
template <typename T>
task<int> look_at(const T&) {
  co_return 1;
}
template <typename F>
task<int> call(F f) {
  co_return co_await f();
}
template <typename F>
void take(F) {}
struct job {
  std::string name;
  std::function<task<int>()> work;
};

// What co_yield is for, and chains of it.
template <typename T>
struct stream {
  struct promise_type {
    std::optional<T> item;
    stream get_return_object() { return stream(*this); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void unhandled_exception() { std::terminate(); }
    void return_void() {}
    template <typename U>
    std::suspend_always yield_value(U&& given) {
      item.emplace(std::forward<U>(given));
      return {};
    }
    std::suspend_never yield_value(stream<T>&& other) {
      while (other.next()) ++others;
      return {};
    }
    int others = 0;
  };
  explicit stream(promise_type& p) : frame(std::coroutine_handle<promise_type>::from_promise(p)) {}
  stream(stream&& from) noexcept : frame(std::exchange(from.frame, {})) {}
  ~stream() {
    if (frame) frame.destroy();
  }
  bool next() { return frame.resume(), !frame.done(); }
  std::coroutine_handle<promise_type> frame;
};
template <typename F>
struct stage {
  explicit stage(F g) : f(std::move(g)) {}
  F f;
};
template <typename F>
stage<F> map(F f) {
  return stage<F>(std::move(f));
}
template <typename F>
stream<int> operator|(stream<int> from, stage<F> then) {
  while (from.next()) co_yield static_cast<int>(then.f().size());
}
template <typename F>
task<int> for_each(stream<int> from, F f) {
  int sum = 0;
  while (from.next()) sum += static_cast<int>(f().size());
  co_return sum;
}
inline stream<int> numbers() { co_yield 1; }

// What takes one of several, and is asked which it was.
struct hit {
  template <typename... Fs>
  int visit(Fs... fs) {
    return (static_cast<int>(fs().size()) + ...);
  }
};
struct sends {
  explicit sends(std::string t) : text(std::move(t)) {}
  explicit sends(person p) : text(std::move(p.name)) {}
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) {}
  hit await_resume() { return {}; }
  std::string text;
};
template <typename... Bs>
sends select(Bs... branches) {
  return sends((std::move(branches.text) + ...));
}

inline task<std::string> name() { co_return "a"; }
inline task<int> count(std::vector<std::string> v) { co_return static_cast<int>(v.size()); }
inline task<int> greet(nobody someone = {}) { co_return static_cast<int>(someone.name.size()); }
inline std::string make() { return "b"; }

}  // namespace forms
