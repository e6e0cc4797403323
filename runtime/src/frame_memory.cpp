// frame_memory.cpp: magazines that are full or empty, and the central store behind them.
// SPDX-License-Identifier: MIT
//
// A full magazine gives half of itself to the central store, an empty one takes a batch from there.
// The store keeps at most `central_limit` batches of a class and gives the rest back to the slabs.
// A thread that ends gives back what it has. The store, too, holds addresses, not a list through
// the blocks: what one thread makes and another one frees would cost a cache miss more for each
// block.
#include <tandem/detail/frame_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include <tandem/detail/futex_mutex.hpp>

#include "fork_guard.hpp"
#include "frame_slabs.hpp"
#include "no_magazine.hpp"

namespace tandem::inline v0::detail {

alignas(magazine_bytes) constinit std::array<void*, magazine_entries> no_magazine{};

constinit std::atomic<frame_check> check_freed_frame{nullptr};

namespace {

constexpr std::size_t batch_size = magazine_entries / 2;
constexpr std::size_t central_limit = 32;

using block = frame_block;
static_assert(sizeof(block) <= frame_granule_bytes);

struct alignas(64) central_list {
  futex_mutex lock;
  std::size_t count = 0;  // guarded by lock, as are the blocks: whole batches
  std::array<void*, central_limit * batch_size> blocks{};
};

constinit std::array<central_list, frame_class_count> central{};

// Of this thread: may magazines still be made?
enum class cache_state : std::uint8_t { unused, in_use, closed };
constinit thread_local cache_state state = cache_state::unused;

void empty_magazines(thread_context& context) noexcept {
  for (std::size_t index = 0; index < frame_class_count; ++index) {
    void**& end = context.frames[index];
    if (end == no_magazine_end()) continue;
    block* chain = nullptr;
    while (end[-1] != nullptr) {
      auto* const each = static_cast<block*>(*--end);
      each->next = chain;
      chain = each;
    }
    give_to_slabs(index, chain);
    std::free(end - 1);
    end = no_magazine_end();
  }
}

struct reaper {
  ~reaper() {
    state = cache_state::closed;
    empty_magazines(this_thread());
  }
};

[[gnu::noinline]] void arm_reaper() noexcept {
  static thread_local reaper at_thread_exit;
  (void)&at_thread_exit;
  state = cache_state::in_use;
}

/// @returns  whether this thread has a magazine of the class now
bool have_magazine(void**& end) noexcept {
  if (!TANDEM_KEEP_FRAMES || state == cache_state::closed) return false;
  if (end != no_magazine_end()) return true;
  if (state == cache_state::unused) arm_reaper();
  auto** const fresh = static_cast<void**>(std::aligned_alloc(magazine_bytes, magazine_bytes));
  if (fresh == nullptr) return false;
  fresh[0] = nullptr;
  end = fresh + 1;
  return true;
}

/// Into an empty magazine. @returns false if there is no memory
bool take_batch(std::size_t index, void**& end) noexcept {
  central_list& store = central[index];
  {
    std::lock_guard lock(store.lock);
    if (store.count != 0) {
      store.count -= batch_size;
      end = std::copy_n(store.blocks.data() + store.count, batch_size, end);
      return true;
    }
  }
  block* each = take_from_slabs(index, batch_size);
  if (each == nullptr) return false;
  for (; each != nullptr; each = each->next) *end++ = each;
  return true;
}

/// The newest of a full magazine.
void give_batch(std::size_t index, void**& end) noexcept {
  central_list& store = central[index];
  end -= batch_size;
  {
    std::lock_guard lock(store.lock);
    if (store.count < store.blocks.size()) {
      std::copy_n(end, batch_size, store.blocks.data() + store.count);
      store.count += batch_size;
      return;
    }
  }
  block* chain = nullptr;
  for (std::size_t i = 0; i < batch_size; ++i) {
    auto* const each = static_cast<block*>(end[i]);
    each->next = chain;
    chain = each;
  }
  give_to_slabs(index, chain);
}

}  // namespace

[[gnu::noinline]] void* allocate_frame_slowly(std::size_t bytes) {
  const std::size_t index = frame_class_of(bytes);
  void* fresh = nullptr;
  if (!TANDEM_KEEP_FRAMES || index >= frame_class_count) {
    fresh = std::malloc(bytes);
  } else if (void**& end = this_thread().frames[index]; !have_magazine(end)) {
    fresh = take_from_slabs(index, 1);
  } else {
    // Not empty: the caller was compiled to keep none (config.hpp), others of this process were
    // not.
    if (end[-1] != nullptr || take_batch(index, end)) return *--end;
  }
  if (fresh == nullptr) throw std::bad_alloc();
  return fresh;
}

[[gnu::noinline]] void free_frame_slowly(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = frame_class_of(bytes);
  if (!TANDEM_KEEP_FRAMES || index >= frame_class_count) {
    std::free(memory);
    return;
  }
  if (!have_magazine(this_thread().frames[index])) {
    auto* const single = static_cast<block*>(memory);
    single->next = nullptr;
    give_to_slabs(index, single);
    return;
  }
  void**& end = this_thread().frames[index];
  if (reinterpret_cast<std::uintptr_t>(end) % magazine_bytes == 0) {  // NOLINT: full
    give_batch(index, end);
  }
  *end++ = memory;
}

void lock_frame_store() noexcept {
  for (central_list& each : central) each.lock.lock();
  lock_slabs();
}
void unlock_frame_store() noexcept {
  unlock_slabs();
  for (central_list& each : central) each.lock.unlock();
}

void trim_frame_cache() noexcept { empty_magazines(this_thread()); }

}  // namespace tandem::inline v0::detail
