// select_branches.cpp: what cannot be a branch of a select, and how its outcome is not to be used.
// SPDX-License-Identifier: MIT
#include <mutex>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/barrier.hpp>
#include <tandem/branch_if.hpp>
#include <tandem/channel.hpp>
#include <tandem/condition_variable.hpp>
#include <tandem/event.hpp>
#include <tandem/latch.hpp>
#include <tandem/mutex.hpp>
#include <tandem/once.hpp>
#include <tandem/run.hpp>
#include <tandem/select.hpp>
#include <tandem/select_list.hpp>
#include <tandem/selector.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>

namespace {

using tandem::biased;
using tandem::otherwise;
using tandem::select;

tandem::task<int> child() { co_return 1; }

tandem::task<void> choose(tandem::channel<int>& c, tandem::event& e, tandem::latch& l,
                          std::mutex& m) {
  auto named = c.receive();
#if defined(TANDEM_CONTROL)
  auto hit = co_await select(std::move(named), e.wait(), l.wait(), otherwise);
  hit.visit([](std::optional<int>) {}, [] {}, [] {}, [] { return 1; });
  (void)m;
#elif defined(TANDEM_CASE_task)
  (void)co_await select(std::move(named), child());
#elif defined(TANDEM_CASE_result_of_a_task)
  (void)co_await select(std::move(named), tandem::as_result(child()));
#elif defined(TANDEM_CASE_conditional_task)
  (void)co_await select(std::move(named), tandem::branch_if(true, child()));
#elif defined(TANDEM_CASE_kept_task)
  tandem::selector next(std::move(named), child());
  (void)co_await next.next();
#elif defined(TANDEM_CASE_listed_task)
  tandem::select_list<tandem::task<int>> next;
#elif defined(TANDEM_CASE_arrival)
  (void)co_await select(std::move(named), l.arrive_and_wait());
#elif defined(TANDEM_CASE_phase)
  tandem::barrier all(1);
  (void)co_await select(std::move(named), all.arrive_and_wait());
#elif defined(TANDEM_CASE_notification)
  tandem::mutex held;
  tandem::condition_variable changed;
  (void)co_await select(std::move(named), changed.wait(held));
#elif defined(TANDEM_CASE_first_call)
  tandem::once first;
  (void)co_await select(std::move(named), first.call(child));
#elif defined(TANDEM_CASE_guard)
  (void)co_await select(std::move(named), std::lock_guard(m));
#elif defined(TANDEM_CASE_name)
  (void)co_await select(named, e.wait());
#elif defined(TANDEM_CASE_early_otherwise)
  (void)co_await select(std::move(named), otherwise, tandem::sleep_for(std::chrono::seconds(1)));
#elif defined(TANDEM_CASE_otherwise_alone)
  (void)co_await select(otherwise);
#elif defined(TANDEM_CASE_kept_otherwise)
  tandem::selector next(std::move(named), otherwise);
  (void)co_await next.next();
#elif defined(TANDEM_CASE_kept_temporary)
  tandem::selector next(std::move(named), tandem::spawn(child()));
  (void)co_await next.next();
#elif defined(TANDEM_CASE_replaced_by_a_copy)
  int value = 1;
  tandem::selector next(c.send(std::move(value)));
  const int other = 2;
  next.replace<0>(c.send(other));
#elif defined(TANDEM_CASE_listed_guard)
  tandem::mutex held;
  tandem::select_list<tandem::mutex_awaiter> next;
  next.add(held.scoped_lock());
#elif defined(TANDEM_CASE_late_biased)
  (void)co_await select(std::move(named), biased);
#elif defined(TANDEM_CASE_visit_one)
  auto hit = co_await select(std::move(named), e.wait());
  hit.visit([](std::optional<int>) {});
#elif defined(TANDEM_CASE_visit_other)
  auto hit = co_await select(std::move(named), e.wait());
  hit.visit([](int) {}, [] {});
#elif defined(TANDEM_CASE_visit_common)
  auto hit = co_await select(std::move(named), e.wait());
  (void)hit.visit([](std::optional<int>) { return 1; }, [] { return std::string(); });
#endif
  (void)co_await child();
}

}  // namespace

int main() {
  tandem::channel<int> c(1);
  tandem::event e;
  tandem::latch l(1);
  std::mutex m;
  tandem::run(choose(c, e, l, m));
}
