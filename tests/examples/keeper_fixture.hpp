// keeper_fixture.hpp: an answer_keeper in virtual time, with a store that is away, slow or deaf as the test wants.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tandem/clock.hpp>
#include <tandem/run.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/virtual_time.hpp>
#include <utility>
#include <vector>

#include "answer_keeper.hpp"
#include "memory_store.hpp"

namespace service::test {

using namespace std::chrono_literals;
using tandem::task;

/// What the test does to the store; it outlives the keeper.
struct behaviour {
  bool is_away = false;
  bool is_deaf = false;  // takes an hour, whoever asks it to stop
  std::string refuses;   // the key of an answer that it never takes
  std::uint64_t prepares = 0;
  std::uint64_t finds = 0;
  std::vector<std::string> written;  // keys, in order
};

class moody_store : public answer_store {
 public:
  explicit moody_store(behaviour& mood) : mood_(mood), inner_(1000) {}

  task<void> prepare() override {
    ++mood_.prepares;
    co_await mood();
  }
  task<std::optional<kept_answer>> find(std::string key) override {
    ++mood_.finds;
    co_await mood();
    co_return co_await inner_.find(std::move(key));
  }
  task<void> keep(known_answer answer) override {
    co_await mood();
    if (answer->key == mood_.refuses) throw std::runtime_error("not this one\n");
    mood_.written.push_back(answer->key);
    co_await inner_.keep(std::move(answer));
  }
  task<kept_page> list(kept_search wanted) override {
    co_await mood();
    co_return co_await inner_.list(std::move(wanted));
  }
  std::string describe() const override { return "a moody store"; }

 private:
  static task<void> an_hour() { co_await tandem::sleep_for(1h); }
  task<void> mood() {
    if (mood_.is_deaf) co_await tandem::shielded(an_hour());
    co_await tandem::sleep_for(1ms);
    if (mood_.is_away) throw std::runtime_error("no route to host\n");
  }

  behaviour& mood_;
  memory_store inner_;
};

inline question asked(unsigned number) {
  question made;
  made.text = std::to_string(number);
  made.key = key_of(made.text);
  return made;
}

inline kept_answer answer_to(unsigned number) {
  kept_answer made;
  made.key = asked(number).key;
  made.request = asked(number).text;
  made.answer = "{}";
  return made;
}

inline std::vector<std::string> keys(unsigned first, unsigned last) {
  std::vector<std::string> all;
  for (unsigned number = first; number <= last; ++number) all.push_back(asked(number).key);
  return all;
}

class fixture {
 public:
  explicit fixture(keeper_options options = {})
      : keeper(std::make_unique<moody_store>(mood), with_log(std::move(options))) {}

  /// Runs `body` while the keeper runs; afterwards it finishes, for which it has a minute.
  template <class Body>
  void run(Body body, std::uint64_t seed = 1) {
    const auto whole = [&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(keeper.run());
      co_await body();
      const auto began = tandem::now();
      keeper.finish();
      co_await scope.join();
      took_to_finish = tandem::now() - began;
    };
    const auto everything = [&]() -> task<void> { co_await tandem::with_scope(whole); };
    tandem::runtime_options options;
    options.clock = tandem::virtual_time(seed, 2);
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    tandem::run(everything(), options);
  }

  behaviour mood;
  std::vector<std::string> log;
  answer_keeper keeper;
  std::chrono::steady_clock::duration took_to_finish{};

 private:
  keeper_options with_log(keeper_options options) {
    options.log = [this](const std::string& line) { log.push_back(line); };
    return options;
  }
};

}  // namespace service::test
