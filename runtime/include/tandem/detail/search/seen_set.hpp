// seen_set.hpp: the positions that a search has visited, each exactly once.
// SPDX-License-Identifier: MIT
//
// A seen_set is a power of two of shards, each behind its own mutex and chosen by the high bits of
// the hash (searching/shard). There is no lock of the whole.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>  // lock_guard
#include <utility>
#include <vector>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/search/seen_shard.hpp>

namespace tandem::inline v0::detail {

template <puzzle P, class Payload = no_payload>
class seen_set {
 public:
  using node = search_node<P, Payload>;
  using shard = seen_shard<P, Payload>;
  using kept = kept_position<P>;

  /// One shard for a single task, else some sixteen per task.
  seen_set(search_control& control, unsigned parallelism)
      : seen_set(std::vector<search_control*>(
            parallelism <= 1 ? 1 : std::bit_ceil(std::size_t{(std::min)(parallelism, 64U)} * 16),
            &control)) {}

  std::size_t shard_count() const noexcept { return shards_.size(); }
  std::size_t shard_of(std::uint64_t hash) const noexcept {
    return shift_ == 64 ? 0 : static_cast<std::size_t>(hash >> shift_);
  }

  template <class... Args>
  node* insert(std::uint64_t hash, kept&& at, const node* parent = nullptr, Args&&... args) {
    locked_shard& target = shards_[shard_of(hash)];
    std::lock_guard lock(target.mutex);  // searching/insert
    return target.table.insert(hash, std::move(at), parent, std::forward<Args>(args)...);
  }

  /// Takes no lock: for times at which nobody inserts.
  const node* find(std::uint64_t hash, const kept& at) const {
    return shards_[shard_of(hash)].table.find(hash, at);
  }

  /// Calls `visit(shard)` while holding the shard's lock.
  template <class Visit>
  void with_shard(std::size_t index, Visit&& visit) {
    locked_shard& target = shards_[index];
    std::lock_guard lock(target.mutex);
    std::forward<Visit>(visit)(target.table);
  }

  /// Once the searching tasks have ended.
  std::uint64_t size() const noexcept {
    std::uint64_t sum = 0;
    for (const locked_shard& each : shards_) sum += each.table.size();
    return sum;
  }
  /// Likewise: of all nodes and slots.
  std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const locked_shard& each : shards_) sum += each.table.bytes();
    return sum;
  }

 private:
  class alignas(64) locked_shard {
   public:
    explicit locked_shard(search_control* control) : table(*control) {}

    futex_mutex mutex;
    shard table;
  };

  // From a range, since that is how a vector builds elements that cannot be moved.
  explicit seen_set(const std::vector<search_control*>& one_per_shard)
      : shards_(one_per_shard.begin(), one_per_shard.end()),
        shift_(64 - static_cast<unsigned>(std::bit_width(shards_.size() - 1))) {}

  std::vector<locked_shard> shards_;
  unsigned shift_;
};

}  // namespace tandem::inline v0::detail
