// rate_limiter.cpp: a token bucket: a semaphore whose permits come back with time.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/run.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>

using namespace std::chrono_literals;

// At most `burst` requests at once, then one per `pause`.
class rate_limiter {
 public:
  rate_limiter(std::size_t burst, std::chrono::milliseconds pause)
      : burst_(burst), pause_(pause), tokens_(burst) {}

  // Waits for a token, which is used up.
  auto pass() { return tokens_.acquire(); }

  // Runs beside the requests until it is stopped: sleep_for throws then.
  tandem::task<void> refill() {
    while (true) {
      co_await tandem::sleep_for(pause_);
      if (tokens_.available() < burst_) tokens_.release();
    }
  }

 private:
  std::size_t burst_;
  std::chrono::milliseconds pause_;
  tandem::semaphore tokens_;
};

tandem::task<int> requests() {
  constexpr int count = 12;
  constexpr std::size_t burst = 4;
  constexpr auto pause = 5ms;
  rate_limiter limiter(burst, pause);
  const auto began = tandem::now();
  auto took = began - began;
  co_await tandem::with_scope([&](tandem::task_scope& beside) -> tandem::task<void> {
    beside.spawn(limiter.refill());  // ends with the scope, however that ends
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
      for (int i = 0; i < count; ++i) {
        scope.spawn([](rate_limiter& limit, int number, auto start) -> tandem::task<void> {
          co_await limit.pass();  // in the order of the calls: a semaphore is fair
          const std::chrono::duration<double, std::milli> after = tandem::now() - start;
          std::cout << ("request " + std::to_string(number) + " after " +
                        std::to_string(after.count()) + " ms\n");
        }(limiter, i, began));
      }
      co_return;
    });
    took = tandem::now() - began;
    beside.request_stop();
  });
  // 4 at once, the other 8 one by one.
  co_return took >= (count - static_cast<int>(burst)) * pause ? 0 : 1;
}

int main() {
  const int mistakes = tandem::run(requests());
  std::cout << (mistakes == 0 ? "as expected\n" : "something is wrong\n");
  return mistakes == 0 ? 0 : 1;
}
