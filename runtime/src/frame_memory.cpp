// frame_memory.cpp: per-thread free lists of frames and the central store behind them.
// SPDX-License-Identifier: MIT
//
// A thread keeps at most `local_limit` blocks of a class. Freeing beyond it moves a batch to the
// central store; the store keeps at most `central_limit` batches of a class and gives the rest to
// free(). A thread that ends gives back what it has.
#include <tandem/detail/frame_memory.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include <tandem/detail/futex_mutex.hpp>

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t granule = 32;
constexpr std::size_t class_count = 32;  // up to 1 KiB
constexpr std::uint32_t batch_size = 64;
constexpr std::uint32_t local_limit = 2 * batch_size;
constexpr std::uint32_t central_limit = 32;

struct block {
  block* next;
  block* next_batch;  // in the head of a batch only
};
static_assert(sizeof(block) <= granule);

struct free_list {
  block* head = nullptr;
  std::uint32_t count = 0;
};

struct central_list {
  futex_mutex lock;
  block* batches = nullptr;  // guarded by lock, as is the count
  std::uint32_t count = 0;
};

constinit std::array<central_list, class_count> central{};

struct thread_cache {
  std::array<free_list, class_count> lists{};
  bool armed = false;   // the reaper of this thread exists
  bool closed = false;  // the thread is ending: nothing is cached any more
};

void free_chain(block* chain) noexcept {
  while (chain != nullptr) {
    block* const next = chain->next;
    std::free(chain);
    chain = next;
  }
}

[[gnu::noinline]] thread_cache& cache() noexcept {
  static constinit thread_local thread_cache mine;
  return mine;
}

void empty_cache(thread_cache& mine) noexcept {
  for (free_list& list : mine.lists) {
    free_chain(list.head);
    list = free_list{};
  }
}

struct reaper {
  ~reaper() {
    thread_cache& mine = cache();
    mine.closed = true;
    empty_cache(mine);
  }
};

[[gnu::noinline]] void arm_reaper(thread_cache& mine) noexcept {
  static thread_local reaper at_thread_exit;
  (void)&at_thread_exit;
  mine.armed = true;
}

/// @returns  a block, and leaves the rest of a central batch in the list; null if there is none
[[gnu::noinline]] block* refill(thread_cache& mine, std::size_t index) noexcept {
  if (mine.closed) return nullptr;
  central_list& store = central[index];
  block* batch = nullptr;
  {
    std::lock_guard lock(store.lock);
    batch = store.batches;
    if (batch == nullptr) return nullptr;
    store.batches = batch->next_batch;
    --store.count;
  }
  if (!mine.armed) arm_reaper(mine);
  free_list& list = mine.lists[index];
  list.head = batch->next;
  list.count = batch_size - 1;
  return batch;
}

[[gnu::noinline]] void spill(free_list& list, std::size_t index) noexcept {
  // The newest batch_size blocks leave; which half goes does not matter for a list this long.
  block* const batch = list.head;
  block* last = batch;
  for (std::uint32_t i = 1; i < batch_size; ++i) last = last->next;
  list.head = last->next;
  list.count -= batch_size;
  last->next = nullptr;
  central_list& store = central[index];
  {
    std::lock_guard lock(store.lock);
    if (store.count < central_limit) {
      batch->next_batch = store.batches;
      store.batches = batch;
      ++store.count;
      return;
    }
  }
  free_chain(batch);
}

constexpr std::size_t index_of(std::size_t bytes) noexcept { return (bytes - 1) / granule; }

}  // namespace

void* allocate_frame(std::size_t bytes) {
  const std::size_t index = index_of(bytes);
  if (index < class_count) [[likely]] {
    thread_cache& mine = cache();
    free_list& list = mine.lists[index];
    if (block* const head = list.head) [[likely]] {
      list.head = head->next;
      --list.count;
      return head;
    }
    if (block* const head = refill(mine, index)) return head;
    bytes = (index + 1) * granule;
  }
  void* const fresh = std::malloc(bytes);
  if (fresh == nullptr) throw std::bad_alloc();
  return fresh;
}

void free_frame(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = index_of(bytes);
  if (index < class_count) [[likely]] {
    thread_cache& mine = cache();
    if (!mine.armed) [[unlikely]]
      arm_reaper(mine);
    if (!mine.closed) [[likely]] {
      free_list& list = mine.lists[index];
      auto* const freed = static_cast<block*>(memory);
      freed->next = list.head;
      list.head = freed;
      if (++list.count > local_limit) [[unlikely]]
        spill(list, index);
      return;
    }
  }
  std::free(memory);
}

void trim_frame_cache() noexcept { empty_cache(cache()); }

}  // namespace tandem::inline v0::detail
