// frame_store.cpp: the central store, and its trim.
// SPDX-License-Identifier: MIT
#include "frames/frame_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include <tandem/detail/futex_mutex.hpp>

#include "frames/frame_regions.hpp"
#include "frames/frame_slabs.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t batch_limit = 32;

struct alignas(64) central_list {
  futex_mutex lock;
  std::size_t count = 0;  // guarded by lock, as are the blocks: whole batches
  std::array<void*, batch_limit * frame_batch> blocks{};
};

constinit std::array<central_list, frame_class_count> central{};

constinit futex_mutex trim_lock;  // one trims the store at a time; taken before all others
constinit std::atomic<bool> news{false};
constinit std::atomic<std::uint64_t> trims{0};

/// Of the central store, all.
void empty_list(std::size_t index) noexcept {
  central_list& store = central[index];
  std::array<void*, frame_batch> batch;
  while (true) {
    {
      const std::lock_guard lock(store.lock);
      if (store.count == 0) return;
      store.count -= frame_batch;
      std::copy_n(store.blocks.data() + store.count, frame_batch, batch.data());
    }
    give_to_slabs(index, batch.data(), frame_batch);
  }
}

}  // namespace

bool take_batch(std::size_t index, void**& end) noexcept {
  central_list& store = central[index];
  {
    std::lock_guard lock(store.lock);
    if (store.count != 0) {
      store.count -= frame_batch;
      end = std::copy_n(store.blocks.data() + store.count, frame_batch, end);
      return true;
    }
  }
  frame_block* each = take_from_slabs(index, frame_batch);
  if (each == nullptr) return false;
  for (; each != nullptr; each = each->next) *end++ = each;
  return true;
}

void give_batch(std::size_t index, void**& end) noexcept {
  central_list& store = central[index];
  end -= frame_batch;
  {
    std::lock_guard lock(store.lock);
    if (store.count < store.blocks.size()) {
      std::copy_n(end, frame_batch, store.blocks.data() + store.count);
      store.count += frame_batch;
      return;
    }
  }
  give_to_slabs(index, end, frame_batch);
}

void give_to_slabs(std::size_t index, void* const* first, std::size_t count) noexcept {
  frame_block* chain = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    auto* const each = static_cast<frame_block*>(first[i]);
    each->next = chain;
    chain = each;
  }
  give_to_slabs(index, chain);
}

void note_news() noexcept {
  if (!news.load(relaxed)) news.store(true, relaxed);
}
bool has_news() noexcept { return news.load(relaxed); }

bool trim_store() noexcept {
  const std::lock_guard only_one(trim_lock);
  news.store(false, relaxed);  // before: what comes meanwhile is news
  for (std::size_t index = 0; index < frame_class_count; ++index) empty_list(index);
  if (trim_slabs()) {
    note_news();
    return true;
  }
  nobody_runs.store(true, relaxed);
  trims.fetch_add(1, relaxed);
  return false;
}

void trim_stale_slabs() noexcept {
  if (!has_stale_region()) return;
  const std::lock_guard only_one(trim_lock);
  while (trim_slabs()) {}
}

std::uint64_t count_store_trims() noexcept { return trims.load(relaxed); }

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

}  // namespace tandem::inline v0::detail
