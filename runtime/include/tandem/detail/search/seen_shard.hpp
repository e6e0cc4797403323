// seen_shard.hpp: a compact table of visited positions, for one thread at a time.
// SPDX-License-Identifier: MIT
//
// Open addressing with linear probing over 8-byte slots
//
//     0                      free
//     tag << 32 | index + 1  the node number `index` of the arena; tag = low 32 bits of the hash
//
// so that a probe reads a node only where 32 bits of the hash agree, and growing the table reads no
// node at all. The home of a tag is its share of the slots (tag * slots / 2^32), which lets a table
// have any size and keeps the order of tags: it grows by half, in one pass over both tables. Loaded
// to four fifths at most, it takes 10 to 15 bytes per position.
//
// Nodes are built in chunks of the search's arena, which double up to 512 nodes, so that little is
// taken and not used, and never move: their addresses are the parent links of the path.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tandem/detail/search/search_memory.hpp>
#include <tandem/detail/search/search_node.hpp>
#include <tandem/search/result.hpp>

namespace tandem::inline v0::detail {

/// What came of a position that was to be entered.
enum class seen_change : std::uint8_t { none, improved, added };

template <puzzle P, class Payload = no_payload>
class seen_shard {
 public:
  using node = search_node<P, Payload>;
  using kept = kept_position<P>;

  explicit seen_shard(search_control& control)
      : control_(control), slots_(control), chunks_(control) {}
  seen_shard(const seen_shard&) = delete;
  seen_shard& operator=(const seen_shard&) = delete;
  ~seen_shard();

  /// Makes a node of `at`, its parent and the arguments of its payload; nullptr if `at` is there
  /// already. If that throws, the shard is as it was.
  template <class... Args>
  node* insert(std::uint64_t hash, kept&& at, const node* parent = nullptr, Args&&... args) {
    const auto [found, added] =
        find_or_insert(hash, std::move(at), parent, std::forward<Args>(args)...);
    return added ? found : nullptr;
  }

  /// As insert(), but gives the node that is there already, and whether it is a new one.
  template <class... Args>
  std::pair<node*, bool> find_or_insert(std::uint64_t hash, kept&& at, const node* parent,
                                        Args&&... args);

  /// Inserts, or gives the node that is there a new parent and a lower cost.
  std::pair<node*, seen_change> improve(std::uint64_t hash, kept&& at, const node* parent,
                                        std::uint64_t cost)
    requires std::is_same_v<Payload, least_cost>;

  /// The node of `at`, nullptr if there is none. By several threads at once while nobody inserts.
  const node* find(std::uint64_t hash, const kept& at) const;
  node* find(std::uint64_t hash, const kept& at) {
    return const_cast<node*>(std::as_const(*this).find(hash, at));
  }

  /// Nodes are numbered in the order in which they were inserted.
  const node& node_at(std::uint64_t index) const noexcept { return *at_index(index); }

  /// Brings the slot where a search for `hash` begins towards the cache.
  void prefetch(std::uint64_t hash) const noexcept {
    if (!slots_.empty()) TANDEM_PREFETCH_TO_WRITE(&slots_[home_of(hash)]);
  }

  /// As above for up to `count` of `reached`, from number `first` on.
  template <class Reached>
  void prefetch_all(const Reached& reached, std::size_t first, std::size_t count) const noexcept {
    const std::size_t last = (std::min)(reached.size(), first + count);
    for (std::size_t i = first; i < last; ++i) prefetch(reached[i].hash);
  }

  std::uint64_t size() const noexcept { return count_; }
  /// bytes() after one more position, if the table has to grow for it.
  std::size_t bytes_with_one_more() const noexcept;
  /// Of nodes and slots, used or not.
  std::size_t bytes() const noexcept {
    return slots_.capacity() * sizeof(std::uint64_t) + capacity_ * sizeof(node);
  }

 private:
  static constexpr unsigned first_chunk_bits = 4;
  static constexpr unsigned last_chunk_bits = 9;
  static constexpr std::size_t first_slots = 32;
  static constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
  static constexpr std::uint64_t most_nodes = most_slots / 5 * 4;

  static constexpr std::uint64_t tag_of(std::uint64_t hash) noexcept { return hash & 0xffffffffU; }
  static constexpr std::size_t chunk_size(std::size_t chunk) noexcept {
    return std::size_t{1} << std::min<std::size_t>(first_chunk_bits + chunk, last_chunk_bits);
  }
  static std::uint64_t share(std::uint64_t tag, std::uint64_t slots) noexcept {
    return tag * slots >> 32;
  }

  bool is_loaded() const noexcept { return count_ * 5 >= slots_.size() * 4; }
  std::uint64_t larger_slots() const noexcept {
    if (slots_.empty()) return first_slots;
    return std::min<std::uint64_t>(most_slots, slots_.size() + slots_.size() / 2);
  }
  std::uint64_t home_of(std::uint64_t hash) const noexcept {
    return share(tag_of(hash), slots_.size());
  }
  /// The slot that holds `at`, or the free one where the search for it ends.
  std::uint64_t slot_of(std::uint64_t hash, const kept& at) const;
  node* node_in(std::uint64_t slot) const noexcept {
    return at_index((slots_[slot] & 0xffffffffU) - 1);
  }
  node* at_index(std::uint64_t index) const noexcept;
  void grow_slots();
  void grow_arena();

  search_control& control_;
  search_vector<std::uint64_t> slots_;
  search_vector<node*> chunks_;
  std::uint64_t count_ = 0;
  std::uint64_t capacity_ = 0;  // nodes that fit into the chunks
};

// Implementation

template <puzzle P, class Payload>
seen_shard<P, Payload>::~seen_shard() {
  if constexpr (!node::is_trivial) {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      const std::size_t built = std::min<std::uint64_t>(count_, chunk_size(chunk));
      std::destroy_n(chunks_[chunk], built);
      count_ -= built;
    }
  }
  control_.give_memory_back(capacity_ * sizeof(node));
}

template <puzzle P, class Payload>
std::uint64_t seen_shard<P, Payload>::slot_of(std::uint64_t hash, const kept& at) const {
  const std::uint64_t tag = tag_of(hash);
  const std::uint64_t* const slots = slots_.data();
  const std::uint64_t size = slots_.size();
  std::uint64_t slot = share(tag, size);
  while (slots[slot] != 0 && (slots[slot] >> 32 != tag || !(node_in(slot)->at == at))) {
    if (++slot == size) slot = 0;
  }
  return slot;
}

template <puzzle P, class Payload>
template <class... Args>
auto seen_shard<P, Payload>::find_or_insert(std::uint64_t hash, kept&& at, const node* parent,
                                            Args&&... args) -> std::pair<node*, bool> {
  if (is_loaded()) grow_slots();
  const std::uint64_t slot = slot_of(hash, at);
  if (slots_[slot] != 0) return {node_in(slot), false};
  if (count_ == capacity_) grow_arena();
  node* const added =
      std::construct_at(at_index(count_), std::move(at), parent, std::forward<Args>(args)...);
  ++count_;
  slots_[slot] = tag_of(hash) << 32 | count_;
  return {added, true};
}

template <puzzle P, class Payload>
auto seen_shard<P, Payload>::improve(std::uint64_t hash, kept&& at, const node* parent,
                                     std::uint64_t cost) -> std::pair<node*, seen_change>
  requires std::is_same_v<Payload, least_cost>
{
  const auto [found, added] = find_or_insert(hash, std::move(at), parent, cost);
  if (added) return {found, seen_change::added};
  if (cost >= found->payload.value) return {found, seen_change::none};
  found->payload.value = cost;  // searching/lower
  found->parent = parent;
  return {found, seen_change::improved};
}

template <puzzle P, class Payload>
auto seen_shard<P, Payload>::find(std::uint64_t hash, const kept& at) const -> const node* {
  if (count_ == 0) return nullptr;
  const std::uint64_t slot = slot_of(hash, at);
  return slots_[slot] == 0 ? nullptr : node_in(slot);
}

template <puzzle P, class Payload>
auto seen_shard<P, Payload>::at_index(std::uint64_t index) const noexcept -> node* {
  // While chunks double, chunk k begins at index (16 << k) - 16; afterwards each holds 512.
  const std::uint64_t shifted = index + (std::uint64_t{1} << first_chunk_bits);
  if (shifted >> last_chunk_bits != 0) {
    const std::uint64_t chunk =
        last_chunk_bits - first_chunk_bits - 1 + (shifted >> last_chunk_bits);
    return chunks_[chunk] + (shifted & ((std::uint64_t{1} << last_chunk_bits) - 1));
  }
  const auto width = static_cast<unsigned>(std::bit_width(shifted)) - 1;
  return chunks_[width - first_chunk_bits] + (shifted ^ (std::uint64_t{1} << width));
}

template <puzzle P, class Payload>
std::size_t seen_shard<P, Payload>::bytes_with_one_more() const noexcept {
  std::size_t sum = bytes();
  if (is_loaded()) sum += (larger_slots() - slots_.size()) * sizeof(std::uint64_t);
  if (count_ == capacity_) sum += chunk_size(chunks_.size()) * sizeof(node);
  return sum;
}

template <puzzle P, class Payload>
void seen_shard<P, Payload>::grow_slots() {
  const std::uint64_t size = larger_slots();
  search_vector<std::uint64_t> larger(size, slots_.get_allocator());
  for (const std::uint64_t entry : slots_) {
    if (entry == 0) continue;
    std::uint64_t slot = share(entry >> 32, size);
    while (larger[slot] != 0) {
      if (++slot == size) slot = 0;
    }
    larger[slot] = entry;
  }
  slots_.swap(larger);
}

template <puzzle P, class Payload>
void seen_shard<P, Payload>::grow_arena() {
  const std::size_t size = chunk_size(chunks_.size());
  if (capacity_ + size > most_nodes) {
    throw std::length_error("tandem search: too many positions");
  }
  // First of all room for its address, so that nothing throws once the chunk is there.
  if (chunks_.size() == chunks_.capacity()) chunks_.reserve(chunks_.size() * 2 + 4);
  void* const room = control_.take_memory_for_good(size * sizeof(node), alignof(node));
  chunks_.push_back(static_cast<node*>(room));
  capacity_ += size;
}

/// Tells what `seen` holds and takes; adds up where a search has two.
template <class Seen>
void count_seen(search_summary& summary, const Seen& seen) {
  summary.positions_kept += seen.size();
  summary.seen_bytes += seen.bytes();
}

}  // namespace tandem::inline v0::detail
