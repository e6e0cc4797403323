// seen_set.hpp: the positions that a search has visited, each exactly once.
// SPDX-License-Identifier: MIT
//
// A seen_shard is a hash table for one thread: open addressing with linear probing over 8-byte
// slots
//
//     0                      free
//     tag << 32 | index + 1  the node number `index` of the shard's arena; tag = low 32 bits of the hash
//
// so that a probe reads a node only where 32 bits of the hash agree, and growing the table reads no
// node at all. Nodes are built in chunks of doubling size and never move: their addresses are the
// parent links of the path. A position costs its node and 12 to 24 bytes of slots.
//
// A seen_set is a power of two of shards, each behind its own mutex and chosen by the high bits of
// the hash. There is no lock of the whole. No user function but the position's ==, move and copy is
// called under a shard's lock.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>  // lock_guard
#include <stdexcept>
#include <utility>
#include <vector>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/search/search_node.hpp>

namespace tandem::inline v0::detail {

template <puzzle P>
class seen_shard {
 public:
  using node = search_node<P>;
  using position = typename P::position;

  seen_shard() = default;
  seen_shard(const seen_shard&) = delete;
  seen_shard& operator=(const seen_shard&) = delete;
  ~seen_shard();

  /// Makes a node of `at` and of what else its constructor takes; nullptr if `at` is there already.
  /// If building the node throws, the shard is as it was.
  template <class... Args>
  node* insert(std::uint64_t hash, position&& at, Args&&... args);

  /// Brings the slot where a search for `hash` begins towards the cache.
  void prefetch(std::uint64_t hash) const noexcept {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask_], 1);
  }

  std::uint64_t size() const noexcept { return count_; }

 private:
  static constexpr unsigned first_chunk_bits = 4;  // chunk k holds 16 << k nodes
  static constexpr std::size_t first_slots = 32;
  static constexpr std::uint64_t max_nodes = (std::uint64_t{1} << 32) - 32;

  node* at_index(std::uint64_t index) const noexcept;
  void grow_slots();
  void grow_arena();

  std::vector<std::uint64_t> slots_;
  std::uint64_t mask_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t capacity_ = 0;  // nodes that fit into the chunks
  std::array<node*, 32> chunks_{};
  unsigned chunk_count_ = 0;
};

template <puzzle P>
class seen_set {
 public:
  using node = search_node<P>;

  /// One shard for a single task, else some sixteen per task.
  explicit seen_set(unsigned parallelism)
      : shards_(parallelism <= 1 ? 1 : std::bit_ceil(std::size_t{std::min(parallelism, 64U)} * 16)),
        shift_(64 - static_cast<unsigned>(std::bit_width(shards_.size() - 1))) {}

  std::size_t shard_count() const noexcept { return shards_.size(); }
  std::size_t shard_of(std::uint64_t hash) const noexcept {
    return shift_ == 64 ? 0 : static_cast<std::size_t>(hash >> shift_);
  }

  template <class... Args>
  node* insert(std::uint64_t hash, typename P::position&& at, Args&&... args) {
    locked_shard& target = shards_[shard_of(hash)];
    std::lock_guard lock(target.mutex);
    return target.shard.insert(hash, std::move(at), std::forward<Args>(args)...);
  }

  /// Calls `visit(shard)` while holding the shard's lock.
  template <class Visit>
  void with_shard(std::size_t index, Visit&& visit) {
    locked_shard& target = shards_[index];
    std::lock_guard lock(target.mutex);
    std::forward<Visit>(visit)(target.shard);
  }

  /// Exact once the searching tasks have ended.
  std::uint64_t size() {
    std::uint64_t sum = 0;
    for (locked_shard& each : shards_) {
      std::lock_guard lock(each.mutex);
      sum += each.shard.size();
    }
    return sum;
  }

 private:
  struct alignas(64) locked_shard {
    futex_mutex mutex;
    seen_shard<P> shard;
  };

  std::vector<locked_shard> shards_;
  unsigned shift_;
};

// Implementation

template <puzzle P>
seen_shard<P>::~seen_shard() {
  std::allocator<node> allocator;
  for (unsigned chunk = 0; chunk < chunk_count_; ++chunk) {
    const std::size_t chunk_size = std::size_t{1} << (first_chunk_bits + chunk);
    if constexpr (!node::is_trivial) {
      const std::size_t first = chunk_size - (std::size_t{1} << first_chunk_bits);
      const std::size_t built =
          count_ > first ? std::min<std::size_t>(chunk_size, count_ - first) : 0;
      std::destroy_n(chunks_[chunk], built);
    }
    allocator.deallocate(chunks_[chunk], chunk_size);
  }
}

template <puzzle P>
template <class... Args>
auto seen_shard<P>::insert(std::uint64_t hash, position&& at, Args&&... args) -> node* {
  if (count_ * 3 >= slots_.size() * 2) grow_slots();
  const std::uint64_t tag = hash & 0xffffffffU;
  std::uint64_t slot = tag & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if (slots_[slot] >> 32 == tag && at_index((slots_[slot] & 0xffffffffU) - 1)->at == at) {
      return nullptr;
    }
  }
  if (count_ == capacity_) grow_arena();
  node* added = std::construct_at(at_index(count_), std::move(at), std::forward<Args>(args)...);
  ++count_;
  slots_[slot] = tag << 32 | count_;
  return added;
}

template <puzzle P>
auto seen_shard<P>::at_index(std::uint64_t index) const noexcept -> node* {
  // Chunk k begins at index (16 << k) - 16.
  const std::uint64_t shifted = index + (std::uint64_t{1} << first_chunk_bits);
  const auto width = static_cast<unsigned>(std::bit_width(shifted)) - 1;
  return chunks_[width - first_chunk_bits] + (shifted ^ (std::uint64_t{1} << width));
}

template <puzzle P>
void seen_shard<P>::grow_slots() {
  std::vector<std::uint64_t> larger(slots_.empty() ? first_slots : slots_.size() * 2);
  const std::uint64_t mask = larger.size() - 1;
  for (const std::uint64_t entry : slots_) {
    if (entry == 0) continue;
    std::uint64_t slot = (entry >> 32) & mask;
    while (larger[slot] != 0) slot = (slot + 1) & mask;
    larger[slot] = entry;
  }
  slots_.swap(larger);
  mask_ = mask;
}

template <puzzle P>
void seen_shard<P>::grow_arena() {
  const std::size_t chunk_size = std::size_t{1} << (first_chunk_bits + chunk_count_);
  if (capacity_ + chunk_size > max_nodes) {
    throw std::length_error("tandem search: too many positions");
  }
  chunks_[chunk_count_] = std::allocator<node>().allocate(chunk_size);
  ++chunk_count_;
  capacity_ += chunk_size;
}

}  // namespace tandem::inline v0::detail
