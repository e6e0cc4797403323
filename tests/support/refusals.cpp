// refusals.cpp: who is meant, which request it is, and the loop over all of them.
// SPDX-License-Identifier: MIT
#include "refusals.hpp"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "seeded.hpp"
#include "watchdog.hpp"

namespace tandem::test {

namespace {

constinit thread_local const refusals* armed_here = nullptr;
// A request that is made while one is judged.
constinit thread_local bool judging = false;

void report_all() noexcept {
  allocations.report();
  new_threads.report();
}

// std::terminate and failed assertions come this way.
void on_abort(int /*signal*/) {
  report_all();
  (void)::signal(SIGABRT, SIG_DFL);
  (void)::raise(SIGABRT);
}

void watch_aborts() noexcept {
  static const bool once = [] {
    (void)::signal(SIGABRT, &on_abort);
    void* some[2];
    (void)::backtrace(some, 2);  // the first one allocates
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
  if ((armed_here != nullptr) != (which_ == kind::caller)) return false;
  if (which_ == kind::caller) return true;
  char name[16] = {};
  (void)::prctl(PR_GET_NAME, name, 0, 0, 0);
  return std::strncmp(name, prefix_, std::strlen(prefix_)) == 0;
}

void refusals::arm(unsigned long nth, asker whose) noexcept {
  watch_aborts();
  nth_ = nth;
  whose_ = whose;
  frames_ = 0;
  seen_.store(0, std::memory_order_relaxed);
  refused_.store(false, std::memory_order_relaxed);
  armed_here = this;
  armed_.store(true, std::memory_order_release);  // pairs with refuse_armed()
}

void refusals::disarm() noexcept {
  armed_.store(false, std::memory_order_relaxed);
  armed_here = nullptr;
}

bool refusals::refuse_armed() noexcept {
  if (judging || !armed_.load(std::memory_order_acquire)) return false;
  judging = true;
  const bool meant = whose_.is_this_thread();
  const bool chosen = meant && seen_.fetch_add(1, std::memory_order_relaxed) + 1 == nth_;
  if (chosen) {
    frames_ = ::backtrace(stack_, most_frames);
    refused_.store(true, std::memory_order_release);
  }
  judging = false;
  return chosen;
}

void refusals::report() const noexcept {
  if (!has_refused()) return;
  char line[120];
  const int length = std::snprintf(
      line, sizeof line, "\nrefusals: %s %lu was refused, asked for here:\n", what_, nth_);
  if (length > 0) (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  ::backtrace_symbols_fd(stack_, frames_, STDERR_FILENO);
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
