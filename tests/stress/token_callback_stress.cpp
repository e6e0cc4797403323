// token_callback_stress.cpp: callbacks of a stop token that end, begin and are called at the same time.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include <tandem/detail/token_callback.hpp>

#include "seeded.hpp"
#include "spin.hpp"

namespace {

using tandem::detail::shared_token_callback;
using tandem::test::spin;
using tandem::test::stress;

struct heard {
  std::atomic<int> calls{0};
  std::atomic<bool> is_inside{false};
  unsigned turns = 0;
  static void call(void* self) noexcept {
    auto& me = *static_cast<heard*>(self);
    me.is_inside = true;
    ++me.calls;
    spin(me.turns);
    me.is_inside = false;
  }
};

TEST(token_callback_stress, each_is_called_once_at_most_and_by_nobody_after_its_end) {
  stress([](std::mt19937_64& random) {
    std::stop_source source;
    const std::array<std::uint64_t, 4> seeds{random(), random(), random(), random()};
    std::atomic<int> there{0};
    std::vector<std::thread> threads;
    const bool stops = random() % 8 != 0;
    for (unsigned which = 0; which < 4; ++which) {
      threads.emplace_back([&, which] {
        std::mt19937_64 own(seeds[which]);
        ++there;
        while (there < 4) std::this_thread::yield();
        if (which == 0) {
          spin(static_cast<unsigned>(own() % 4000));
          if (stops) source.request_stop();
          return;
        }
        for (int i = 0; i < 8; ++i) {
          heard state;
          state.turns = static_cast<unsigned>(own() % 200);
          {
            const shared_token_callback listens(source.get_token(), &heard::call, &state);
            spin(static_cast<unsigned>(own() % 300));
            // Half of them leave while they are being called.
            if (own() % 2 == 0 && stops && i == 7) {
              while (state.calls == 0) std::this_thread::yield();
            }
          }
          EXPECT_FALSE(state.is_inside);
          EXPECT_LE(state.calls, 1);
        }
      });
    }
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(tandem::detail::watched_stop_states(), 0u);
}

// What with_stop() has in it. One of libstdc++'s without a futex sleeps for ever within some ten
// thousand rounds.
TEST(token_callback_stress, one_that_ends_while_it_is_called_ends) {
  std::atomic<std::stop_source*> given{nullptr};
  std::atomic<std::uint64_t> stopped{0};
  std::atomic<bool> over{false};
  std::thread stopper([&] {
    while (!over) {
      std::stop_source* const source = given.exchange(nullptr);
      if (source == nullptr) {
        std::this_thread::yield();
        continue;
      }
      source->request_stop();
      ++stopped;
    }
  });
  std::uint64_t round = 0;
  stress([&](std::mt19937_64& random) {
    std::stop_source source;
    std::atomic<bool> began{false};
    const auto turns = static_cast<unsigned>(random() % 1500);
    {
      const auto called = [&began, turns] {
        began = true;
        spin(turns);
      };
      const tandem::detail::token_callback<decltype(called)> listens(source.get_token(), called);
      given = &source;
      while (!began) std::this_thread::yield();
    }
    ++round;
    while (stopped != round) std::this_thread::yield();
  });
  over = true;
  stopper.join();
}

}  // namespace
