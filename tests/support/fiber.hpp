// fiber.hpp: stacks to switch between on one thread, known to AddressSanitizer and ThreadSanitizer.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace tandem::test {

/// A few fibers beside the stack of their owner, which is where control starts and comes back to.
class fiber_set {
 public:
  explicit fiber_set(std::size_t count);
  ~fiber_set();
  fiber_set(const fiber_set&) = delete;
  fiber_set& operator=(const fiber_set&) = delete;

  /// What fiber `i` calls when it is switched to next, once its last body has returned. At its end
  /// a body switches away; it returns when the fiber is to begin the next one.
  void start(std::size_t i, std::function<void()> body);
  /// From anywhere but fiber `i`.
  void switch_to(std::size_t i);
  /// From a fiber, to the owner's stack.
  void leave();
  /// From the owner's stack: forgets what is on the fibers' stacks, nothing there is destroyed.
  void abandon();

 private:
  struct fiber;
  static void enter();
  static void change(fiber& from, fiber& to);
  std::unique_ptr<fiber> make();

  std::unique_ptr<fiber> owner_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  fiber* at_;
};

}  // namespace tandem::test
