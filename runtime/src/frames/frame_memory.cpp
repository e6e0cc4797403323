// frame_memory.cpp: magazines that are full or empty, and the central store behind them.
// SPDX-License-Identifier: MIT
//
// A full magazine gives half of itself to the central store, an empty one takes a batch from there.
// The store keeps at most `central_limit` batches of a class and gives the rest back to the slabs.
// A thread that ends gives back what it has. The store, too, holds addresses, not a list through
// the blocks: what one thread makes and another one frees would cost a cache miss more for each
// block. What threads and store keep goes back when nobody needs it: protocol trim in
// runtime/src/frames/README.md.
#include <tandem/detail/frame_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/futex_mutex.hpp>

#include "frames/frame_slabs.hpp"
#include "frames/no_magazine.hpp"
#include "platform/platform.hpp"
#include "runtime/fork_guard.hpp"

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

constexpr auto relaxed = std::memory_order_relaxed;
constinit futex_mutex trim_lock;  // one trims the store at a time; taken before all others
// Something has come back since the store was trimmed last. Relaxed: whoever lies down next looks.
constinit std::atomic<bool> has_news{false};
constinit std::atomic<std::uint64_t> trims{0};
constinit std::atomic<std::uint64_t> idle_wakes{0};

void note_news() noexcept {
  if (!has_news.load(relaxed)) has_news.store(true, relaxed);
}

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

void close_magazines() noexcept {
  state = cache_state::closed;
  empty_magazines(this_thread());
}

/// @returns  whether what the thread keeps is given back when it ends
[[gnu::noinline]] bool begin_keeping() noexcept {
  if (!platform::at_thread_exit(platform::exit_step::frames, &close_magazines)) return false;
  state = cache_state::in_use;
  return true;
}

/// trim/nobody_runs. Whether nobody runs tasks. A thread of a runtime that asks does: then somebody
/// will trim again.
bool all_idle() noexcept {
  if (!nobody_runs.load(relaxed)) [[likely]]
    return false;
  if (this_thread().current_executor == nullptr) return true;
  nobody_runs.store(false, relaxed);
  return false;
}

/// @returns  whether this thread has a magazine of the class now
bool have_magazine(void**& end) noexcept {
  if (!TANDEM_KEEP_FRAMES || state == cache_state::closed) return false;
  if (end != no_magazine_end()) return true;
  if (state == cache_state::unused && !begin_keeping()) return false;
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

void give_chain(std::size_t index, void* const* first, std::size_t count) noexcept {
  block* chain = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    auto* const each = static_cast<block*>(first[i]);
    each->next = chain;
    chain = each;
  }
  give_to_slabs(index, chain);
}

/// Of the central store, all.
void empty_list(std::size_t index) noexcept {
  central_list& store = central[index];
  std::array<void*, batch_size> batch;
  while (true) {
    {
      const std::lock_guard lock(store.lock);
      if (store.count == 0) return;
      store.count -= batch_size;
      std::copy_n(store.blocks.data() + store.count, batch_size, batch.data());
    }
    give_chain(index, batch.data(), batch_size);
  }
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
  give_chain(index, end, batch_size);
}

/// Of a thread outside while nobody runs: it keeps nothing, and nobody would trim the store after
/// it.
void free_for_good(std::size_t index, void* memory) noexcept {
  if (this_thread().frames[index] != no_magazine_end()) empty_magazines(this_thread());
  give_chain(index, &memory, 1);
  if (!has_stale_region()) return;
  const std::lock_guard only_one(trim_lock);
  while (trim_slabs()) {}
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
    (void)all_idle();
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
  if (all_idle()) [[unlikely]] {
    free_for_good(index, memory);
    return;
  }
  note_news();
  if (!have_magazine(this_thread().frames[index])) {
    give_chain(index, &memory, 1);
    return;
  }
  void**& end = this_thread().frames[index];
  if (reinterpret_cast<std::uintptr_t>(end) % magazine_bytes == 0) {  // NOLINT: full
    give_batch(index, end);
  }
  *end++ = memory;
}

void lock_frame_store() noexcept {
  trim_lock.lock();
  for (central_list& each : central) each.lock.lock();
  lock_slabs();
}
void unlock_frame_store() noexcept {
  unlock_slabs();
  for (central_list& each : central) each.lock.unlock();
  trim_lock.unlock();
}

void trim_frame_cache() noexcept { empty_magazines(this_thread()); }

bool trim_frame_store() noexcept {
  const std::lock_guard only_one(trim_lock);
  has_news.store(false, relaxed);  // before: what comes meanwhile is news
  empty_magazines(this_thread());
  for (std::size_t index = 0; index < frame_class_count; ++index) empty_list(index);
  if (trim_slabs()) {
    note_news();
    return true;
  }
  nobody_runs.store(true, relaxed);
  trims.fetch_add(1, relaxed);
  return false;
}

void trim_frame_store_for_good() noexcept {
  if (!has_frames_to_trim()) return;
  while (trim_frame_store()) {}
}

bool has_frames_to_trim() noexcept {
  if (!has_many_slabs()) return false;
  if (has_news.load(relaxed)) return true;
  const auto& ends = this_thread().frames;
  return std::any_of(ends.begin(), ends.end(), [](void** end) { return end != no_magazine_end(); });
}

constinit std::atomic<std::int64_t> frame_idle_ns{500'000'000};

void note_idle_wake() noexcept { idle_wakes.fetch_add(1, relaxed); }

frame_store_counts count_frame_store() noexcept {
  const slab_counts slabs = count_slabs();
  frame_store_counts now;
  now.mapped_bytes = slabs.mapped_bytes;
  now.system_calls = slabs.system_calls;
  now.trims = trims.load(relaxed);
  now.idle_wakes = idle_wakes.load(relaxed);
  return now;
}

}  // namespace tandem::inline v0::detail
