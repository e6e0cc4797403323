// context_entry.hpp: one binding of a context, and the list that it heads.
// SPDX-License-Identifier: MIT
//
// Entries are immutable once a task runs with them, and shared: `references` counts the block that
// has made the binding, the spawned tasks that have captured it, and the newer entries that stand
// on it. Children inside the block borrow it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>

namespace tandem::inline v0::detail {

class TANDEM_API context_entry : public frame_allocated {
 public:
  explicit context_entry(const void* key) noexcept : key_(key) {}
  context_entry(const context_entry&) = delete;
  context_entry& operator=(const context_entry&) = delete;

 protected:
  virtual ~context_entry();

 private:
  friend class context_scope;
  friend const context_entry* find_in_context(const void* key) noexcept;
  friend void keep_context(const context_entry* entry) noexcept;
  friend void release_context(const context_entry* entry) noexcept;

  const void* const key_;
  const context_entry* rest_ = nullptr;  // set before a task runs with it
  mutable std::atomic<std::uint32_t> references_{1};
};

template <class T>
class context_value final : public context_entry {
 public:
  template <class U>
  context_value(const void* key, U&& bound) : context_entry(key), value(std::forward<U>(bound)) {}
  const T value;
};

/// The newest binding of `key` in the calling task's context; null if there is none.
TANDEM_API const context_entry* find_in_context(const void* key) noexcept;
/// For whoever may outlive the block that has made the binding. Null is allowed.
TANDEM_API void keep_context(const context_entry* entry) noexcept;
TANDEM_API void release_context(const context_entry* entry) noexcept;

}  // namespace tandem::inline v0::detail
