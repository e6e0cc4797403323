// fiber.cpp: fibers of Windows.
// SPDX-License-Identifier: MIT
#include "fiber.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

#include <cstdlib>
#include <utility>

namespace tandem::test {

namespace {
constexpr std::size_t stack_bytes = 256 * 1024;
// What a fiber that begins has to know; set by whoever switches to it.
void* entering = nullptr;
}  // namespace

struct fiber_set::fiber {
  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  // The owner's goes back to being a thread.
  ~fiber() {
    if (is_owner) {
      ::ConvertFiberToThread();
    } else {
      ::DeleteFiber(handle);
    }
  }

  void* handle = nullptr;
  bool is_owner = false;
  std::function<void()> body;
};

fiber_set::fiber_set(std::size_t count) : owner_(std::make_unique<fiber>()), at_(owner_.get()) {
  owner_->is_owner = true;
  owner_->handle = ::ConvertThreadToFiber(nullptr);
  if (owner_->handle == nullptr) std::abort();
  for (std::size_t i = 0; i < count; ++i) fibers_.push_back(make());
}

fiber_set::~fiber_set() = default;

std::unique_ptr<fiber_set::fiber> fiber_set::make() {
  auto fresh = std::make_unique<fiber>();
  fresh->handle = ::CreateFiber(stack_bytes, [](void*) { fiber_set::enter(); }, nullptr);
  if (fresh->handle == nullptr) std::abort();
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

void fiber_set::change(fiber& /*from*/, fiber& to) {
  entering = &to;
  ::SwitchToFiber(to.handle);
}

void fiber_set::enter() {
  fiber& self = *static_cast<fiber*>(entering);
  while (true) self.body();
}

}  // namespace tandem::test
