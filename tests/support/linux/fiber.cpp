// fiber.cpp: ucontext, and what the sanitizers have to be told about it.
// SPDX-License-Identifier: MIT
#include "fiber.hpp"

#include <ucontext.h>

#include <cstdlib>
#include <utility>

#include "sanitized.hpp"

#if defined(TANDEM_TEST_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TANDEM_TEST_THREAD_SANITIZER)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

namespace tandem::test {

namespace {
constexpr std::size_t stack_bytes = 256 * 1024;
}

struct fiber_set::fiber {
  ~fiber() {
#if defined(TANDEM_TEST_THREAD_SANITIZER)
    if (stack != nullptr) __tsan_destroy_fiber(tsan);
#endif
  }

  ucontext_t context{};
  std::unique_ptr<char[]> stack;  // null: the owner's
  std::function<void()> body;
  // For the sanitizers.
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake_stack = nullptr;
  void* tsan = nullptr;
};

namespace {
// What a fiber that begins has to know; set by whoever switches to it.
void* entering = nullptr;
void* leaving = nullptr;
}  // namespace

fiber_set::fiber_set(std::size_t count) : owner_(std::make_unique<fiber>()), at_(owner_.get()) {
#if defined(TANDEM_TEST_THREAD_SANITIZER)
  owner_->tsan = __tsan_get_current_fiber();
#endif
  for (std::size_t i = 0; i < count; ++i) fibers_.push_back(make());
}

fiber_set::~fiber_set() = default;

std::unique_ptr<fiber_set::fiber> fiber_set::make() {
  auto fresh = std::make_unique<fiber>();
  fresh->stack.reset(new char[stack_bytes]);
  fresh->bottom = fresh->stack.get();
  fresh->size = stack_bytes;
#if defined(TANDEM_TEST_THREAD_SANITIZER)
  fresh->tsan = __tsan_create_fiber(0);
#endif
  if (getcontext(&fresh->context) != 0) std::abort();
  fresh->context.uc_stack.ss_sp = fresh->stack.get();
  fresh->context.uc_stack.ss_size = stack_bytes;
  fresh->context.uc_link = nullptr;
  makecontext(&fresh->context, &fiber_set::enter, 0);
  // Switching looks at the registers only. AddressSanitizer would clear the whole stack each time.
  fresh->context.uc_stack.ss_size = 0;
  return fresh;
}

void fiber_set::start(std::size_t i, std::function<void()> body) {
  fibers_[i]->body = std::move(body);
}

void fiber_set::switch_to(std::size_t i) {
  fiber& from = *std::exchange(at_, fibers_[i].get());
  change(from, *at_);
}

void fiber_set::leave() {
  fiber& from = *std::exchange(at_, owner_.get());
  change(from, *at_);
}

void fiber_set::abandon() {
  for (auto& each : fibers_) each = make();
}

void fiber_set::change(fiber& from, fiber& to) {
  entering = &to;
  leaving = &from;
#if defined(TANDEM_TEST_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
#if defined(TANDEM_TEST_THREAD_SANITIZER)
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
  if (swapcontext(&from.context, &to.context) != 0) std::abort();
#if defined(TANDEM_TEST_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void fiber_set::enter() {
  fiber& self = *static_cast<fiber*>(entering);
#if defined(TANDEM_TEST_ADDRESS_SANITIZER)
  fiber& before = *static_cast<fiber*>(leaving);
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (before.stack == nullptr) {  // how the owner's stack becomes known
    before.bottom = bottom;
    before.size = size;
  }
#endif
  while (true) self.body();
}

}  // namespace tandem::test
