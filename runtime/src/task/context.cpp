// context.cpp: bindings, who keeps them, and the block that makes one.
// SPDX-License-Identifier: MIT
#include <tandem/context.hpp>

namespace tandem::inline v0::detail {

context_entry::~context_entry() = default;

namespace {
constinit const environment_kind surrounds_context("with_context");
}

const context_entry* find_in_context(const void* key) noexcept {
  const environment* const env = current_environment();
  if (env == nullptr) return nullptr;
  for (const context_entry* at = env->context(); at != nullptr; at = at->rest_) {
    if (at->key_ == key) return at;
  }
  return nullptr;
}

void keep_context(const context_entry* entry) noexcept {
  // Relaxed: the caller holds the entry already.
  if (entry != nullptr) entry->references_.fetch_add(1, std::memory_order_relaxed);
}

void release_context(const context_entry* entry) noexcept {
  // A loop: a long list must not be a deep stack. acq_rel: the last one destroys what others have
  // read.
  while (entry != nullptr && entry->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const context_entry* const rest = entry->rest_;
    delete entry;
    entry = rest;
  }
}

void context_scope::start(promise_base& child, promise_base& parent,
                          outcome_base& result) noexcept {
  open(parent, surrounds_context, nullptr);
  if (entry_ != nullptr) {
    const context_entry* rest = parent.env->context();
    // Binding again what is bound on top: the old value is out of sight for ever.
    if (rest != nullptr && rest->key_ == entry_->key_) rest = rest->rest_;
    keep_context(rest);
    entry_->rest_ = rest;
  }
  env_.set_context(entry_);
  prepare(child, parent, result, &context_scope::on_child_final, this);
}

std::coroutine_handle<> context_scope::on_child_final(const ended_frame& child) noexcept {
  return static_cast<context_scope*>(child.link)->leave(*child.continuation, child.home);
}

}  // namespace tandem::inline v0::detail
