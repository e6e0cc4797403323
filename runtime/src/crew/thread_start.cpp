// thread_start.cpp: the body that a factory gets, and the placement of threads.
// SPDX-License-Identifier: MIT
#include "crew/thread_start.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "platform/cpus.hpp"
#include "platform/futex.hpp"
#include "platform/threads.hpp"

namespace tandem::inline v0::detail {

namespace {

/// The body that a factory gets: does nothing before the pool has its thread, nothing if it never
/// gets it, and nothing a second time. States: waits -> granted -> begun, or waits -> refused.
class body_of_worker {
 public:
  explicit body_of_worker(std::function<void()> body) : body_(std::move(body)) {}

  void run() {
    while (state_.load(std::memory_order_acquire) == waits) platform::wait_on(state_, waits);
    std::uint32_t expected = granted;
    // Acquire: pairs with decide().
    if (state_.compare_exchange_strong(expected, begun, std::memory_order_acquire)) body_();
  }
  void decide(bool grant) noexcept {
    state_.store(grant ? granted : refused, std::memory_order_release);
    platform::wake_all(state_);
  }

 private:
  enum : std::uint32_t { waits, granted, refused, begun };
  std::atomic<std::uint32_t> state_{waits};
  std::function<void()> body_;
};

}  // namespace

std::thread start_by_factory(const thread_options::factory_function& factory,
                             const std::string& name, std::function<void()> body) {
  const platform::blocked_signals until_it_runs;
  const auto shared = std::make_shared<body_of_worker>(std::move(body));
  std::thread made;
  try {
    made = factory([shared] { shared->run(); }, name);
    if (!made.joinable()) throw std::runtime_error("no thread came back");
  } catch (...) {
    shared->decide(false);
    throw;
  }
  shared->decide(true);
  return made;
}

void place_worker_thread(const thread_options& options, unsigned number) {
  std::error_code refused;
  switch (options.placement) {
    case cpu_placement::anywhere: break;
    case cpu_placement::within: refused = platform::place_this_thread(options.cpus); break;
    case cpu_placement::one_each:
      refused = platform::place_this_thread({options.cpus[number % options.cpus.size()]});
      break;
  }
  if (refused) {
    throw std::system_error(refused,
                            "tandem: a worker could not be placed on the CPUs of "
                            "runtime_options::threads.cpus, and runs elsewhere");
  }
}

}  // namespace tandem::inline v0::detail
