// explore.cpp: how explored words reach the engine, and what a finding says.
// SPDX-License-Identifier: MIT
#include "explore.hpp"

#include <map>
#include <utility>

#include "explore_engine.hpp"

namespace tandem::test {

namespace {

using engine = schedule::engine;

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
    default: return "relaxed";
  }
}

}  // namespace

std::string schedule::engine::tail() const {
  std::string text;
  std::map<std::uint64_t, std::size_t> addresses;  // numbered: they differ from run to run
  const std::uint64_t first = kept_ > tail_length ? kept_ - tail_length : 0;
  for (std::uint64_t i = first; i < kept_; ++i) {
    const step& taken = tail_[i % tail_length];
    text += std::to_string(i) + "  " + threads_[taken.thread].name + ' ' + taken.what;
    if (taken.word != no_word) {
      text += " word " + std::to_string(taken.word) + ": ";
      if (taken.kind != explored_word::look::address) {
        text += std::to_string(static_cast<std::int64_t>(taken.bits));
      } else if (taken.bits == 0) {
        text += "null";
      } else {
        const auto number = addresses.emplace(taken.bits, addresses.size()).first->second;
        text += "address " + std::to_string(number);
      }
      text += std::string(" ") + name_of(taken.order);
    }
    text += '\n';
  }
  return text;
}

void schedule::thread(const char* name, std::function<void()> body) {
  engine_.add(name, std::move(body));
}
bool schedule::go() { return engine_.go(); }
void schedule::wait_until(const std::function<bool()>& ready) { engine_.wait_until(ready); }
void schedule::require(bool holds, const char* law) { engine_.require(holds, law); }
std::uint64_t schedule::random(std::uint64_t bound) noexcept { return engine_.random(bound); }

std::size_t schedule::current_thread() noexcept {
  const engine& here = engine::instance();
  return here.inside() ? here.running() : most_threads;
}

finding explore(std::uint64_t seed, const std::function<bool(std::uint64_t)>& enough,
                const std::function<void(schedule&)>& scenario) {
  engine& here = engine::instance();
  finding result;
  while (!result.broken && !enough(result.executions)) {
    here.execute(seed + result.executions, scenario);
    if (!here.broken_law().empty()) {
      result.broken = true;
      result.law = here.broken_law();
      result.seed = seed + result.executions;
      result.tail = here.tail();
    }
    ++result.executions;
  }
  return result;
}

explored_word::explored_word(std::uint64_t bits, look kind) noexcept
    : memory_(bits), number_(engine::instance().next_number()), kind_(kind) {}

explored_word::~explored_word() {
  if (engine::instance().inside()) engine::instance().forget(*this);
}

std::uint64_t explored_word::load_bits(std::memory_order order) const noexcept {
  engine& here = engine::instance();
  return here.inside() ? here.load(*this, order) : memory_;
}

void explored_word::store_bits(std::uint64_t bits, std::memory_order order) noexcept {
  engine& here = engine::instance();
  if (here.inside()) {
    here.store(*this, bits, order);
  } else {
    memory_ = bits;
  }
}

std::uint64_t explored_word::begin_change(std::memory_order order) noexcept {
  engine& here = engine::instance();
  return here.inside() ? here.begin_change(*this, order) : memory_;
}

void explored_word::end_change(std::uint64_t bits, std::memory_order order) noexcept {
  engine& here = engine::instance();
  if (here.inside()) {
    here.end_change(*this, bits, order);
  } else {
    memory_ = bits;
  }
}

bool explored_word::fails_spuriously() noexcept {
  engine& here = engine::instance();
  return here.inside() && here.random(8) == 0;
}

void watched_word::note_read() noexcept {
  if (engine::instance().inside()) engine::instance().read(*this);
}
void watched_word::note_write() noexcept {
  if (engine::instance().inside()) engine::instance().write(*this);
}

}  // namespace tandem::test
