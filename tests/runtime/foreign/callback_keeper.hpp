// callback_keeper.hpp: keeps a callback until the test says what becomes of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include <tandem/callback.hpp>

namespace tandem::test {

template <class Signature>
struct keeper {
  std::optional<callback<Signature>> held;
  std::atomic<bool> is_there{false};

  void keep(callback<Signature> one) {
    held.emplace(std::move(one));
    is_there = true;
  }
  void wait() const {
    while (!is_there) std::this_thread::yield();
  }
};

}  // namespace tandem::test
