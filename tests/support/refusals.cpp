// refusals.cpp: who is meant, which request it is, and the loop over all of them.
// SPDX-License-Identifier: MIT
#include "refusals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "refusals_system.hpp"
#include "seeded.hpp"
#include "watchdog.hpp"

namespace tandem::test {

constinit refusals allocations("allocation");
constinit refusals new_threads("thread");

namespace {

// What own_word() says of a thread.
constexpr std::uintptr_t has_armed = 1;
constexpr std::uintptr_t is_granted = 2;  // whatever it asks for

void report_all() noexcept {
  allocations.report();
  new_threads.report();
}

// std::terminate and failed assertions come this way.
void on_abort(int /*signal*/) {
  report_all();
  (void)std::signal(SIGABRT, SIG_DFL);
  (void)std::raise(SIGABRT);
}

void watch_aborts() noexcept {
  static const bool once = [] {
    (void)std::signal(SIGABRT, &on_abort);
    void* some[2];
    (void)take_stack(some, 2);  // the first one allocates
    return true;
  }();
  (void)once;
}

/// What came out of a run. @returns nothing if it is what a refusal may lead to
std::string wrong_ending(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::bad_alloc&) {
    return {};
  } catch (const std::system_error&) {
    return {};
  } catch (const std::exception& other) {
    return std::string("it has thrown: ") + other.what();
  } catch (...) {
    return "it has thrown what is no std::exception";
  }
}

class runs {
 public:
  runs(refusals& what, asker whose, const std::function<void()>& body)
      : what_(what), whose_(whose), body_(body) {}

  /// @returns  false: the loop has to end
  bool one(unsigned long nth) {
    std::string wrong;
    {
      const refused here(what_, nth, whose_);
      wrong = wrong_ending(body_);
    }
    if (wrong.empty() && !::testing::Test::HasFailure()) return true;
    what_.report();
    ADD_FAILURE() << "request " << nth << " was refused; " << wrong;
    return false;
  }

 private:
  refusals& what_;
  const asker whose_;
  const std::function<void()>& body_;
};

}  // namespace

bool asker::is_this_thread() const noexcept {
  if (which_ == kind::anyone) return true;
  const bool is_caller = (own_word() & has_armed) != 0;
  if (is_caller != (which_ == kind::caller)) return false;
  return is_caller || is_this_thread_called(prefix_);
}

granted::granted() noexcept : before_(own_word()) { set_own_word(before_ | is_granted); }
granted::~granted() { set_own_word(before_); }

void refusals::arm(unsigned long nth, asker whose) noexcept {
  watch_aborts();
  nth_ = nth;
  whose_ = whose;
  frames_ = 0;
  seen_.store(0, std::memory_order_relaxed);
  refused_.store(false, std::memory_order_relaxed);
  set_own_word(own_word() | has_armed);
  armed_.store(true, std::memory_order_release);  // pairs with refuse_armed()
}

void refusals::disarm() noexcept {
  armed_.store(false);
  // Threads that nobody joins may be judging a request of theirs: what that reads is written next.
  while (judging_.load() != 0) std::this_thread::yield();
  set_own_word(own_word() & ~has_armed);
}

bool refusals::refuse_armed() noexcept {
  if ((own_word() & is_granted) != 0) return false;
  judging_.fetch_add(1);
  const bool chosen = armed_.load() && judge();
  judging_.fetch_sub(1);
  return chosen;
}

bool refusals::judge() noexcept {
  const granted here;  // requests that are made while this one is judged
  const bool meant = whose_.is_this_thread();
  const bool chosen = meant && seen_.fetch_add(1, std::memory_order_relaxed) + 1 == nth_;
  if (chosen) {
    frames_ = take_stack(stack_, most_frames);
    refused_.store(true, std::memory_order_release);
  }
  return chosen;
}

void refusals::report() const noexcept {
  if (!has_refused()) return;
  (void)std::fprintf(stderr, "\nrefusals: %s %lu was refused, asked for here:\n", what_, nth_);
  print_stack(stack_, frames_);
}

void for_each_refusal(refusals& what, asker whose, const std::function<void()>& body) {
  using clock = std::chrono::steady_clock;
  const hang_report on_hang([](std::FILE* /*out*/) { report_all(); });
  runs all(what, whose, body);
  const auto until = clock::now() + stress_time(std::chrono::milliseconds(700));
  // In order, until half of the time is over. Other threads may make fewer requests this time.
  constexpr int most_quiet = 3;
  int quiet = 0;
  unsigned long nth = 1;
  const auto half = clock::now() + (until - clock::now()) / 2;
  for (; clock::now() < half; ++nth) {
    if (!all.one(nth)) return;
    quiet = what.has_refused() ? 0 : quiet + 1;
    if (quiet == most_quiet) return;
  }
  // The rest in any order: each is tried sooner or later, on one night or another.
  if (!all.one(0)) return;
  std::vector<unsigned long> rest(what.seen() >= nth ? what.seen() - nth + 1 : 0);
  std::iota(rest.begin(), rest.end(), nth);
  std::mt19937_64 random(stress_seed());
  std::shuffle(rest.begin(), rest.end(), random);
  for (const unsigned long each : rest) {
    if (clock::now() >= until || !all.one(each)) return;
  }
}

}  // namespace tandem::test
