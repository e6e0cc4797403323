// change_queue.cpp: pushing, losing and taking changes.
// SPDX-License-Identifier: MIT
#include "platform/windows/change_queue.hpp"

#include <new>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// Two that follow each other tell no more than one.
bool say_the_same(const file_change& a, const file_change& b) noexcept {
  return a.watch == b.watch && a.kind == b.kind && a.cookie == b.cookie && a.name == b.name;
}

}  // namespace

change_queue::~change_queue() { close(); }

void change_queue::close() noexcept {
  changes_.clear();
  if (tells_ != no_descriptor) platform::close(std::exchange(tells_, no_descriptor));
}

void change_queue::push(file_change&& change) noexcept {
  if (has_lost_ || tells_ == no_descriptor) return;
  if (!changes_.empty() && say_the_same(changes_.back(), change)) return;
  if (changes_.size() >= most) return lose();
  try {
    changes_.push_back(std::move(change));
  } catch (const std::bad_alloc&) {
    return lose();
  }
  tell();
}

void change_queue::lose() noexcept {
  has_lost_ = true;
  tell();
}

void change_queue::tell() noexcept {
  if (is_told_ || tells_ == no_descriptor) return;
  const char byte = 0;
  is_told_ = ::send(tells_, &byte, 1, 0) == 1;  // there is room: it is the only one
}

bool change_queue::take(file_change& out) noexcept {
  const std::lock_guard guard(lock);
  if (!changes_.empty()) {
    out = std::move(changes_.front());
    changes_.pop_front();
  } else {
    out = file_change();
    has_lost_ = false;
  }
  is_told_ = !changes_.empty() || has_lost_;
  return is_told_;
}

}  // namespace tandem::inline v0::io::platform
