// candidate_row.hpp: what a task has reached, sorted by the partition that it belongs to.
// SPDX-License-Identifier: MIT
//
// The positions of a parallel search are divided into partitions by the high bits of their hash.
// While a task expands, it writes what it reaches into its own row, a buffer for each partition;
// afterwards one task at a time enters what all rows hold for a partition (searching/enter). So no
// lock is needed, and what is entered in one go is enough for the memory to be fetched ahead.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tandem/detail/search/search_memory.hpp>
#include <tandem/detail/search/search_node.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

/// What a task may have reached, about, before it is entered.
inline constexpr std::size_t round_length = 16'384;

/// How the positions of a search for so many tasks are divided.
class partitioning {
 public:
  explicit partitioning(unsigned workers) noexcept
      : count_(std::bit_ceil(std::size_t{(std::min)(workers, most_workers)} * for_each_worker)),
        shift_(65 - static_cast<unsigned>(std::bit_width(count_))) {}

  std::size_t count() const noexcept { return count_; }
  std::size_t of(std::uint64_t hash) const noexcept { return hash >> shift_; }

 private:
  static constexpr std::size_t for_each_worker = 4;  // so that all end at about the same time
  static constexpr unsigned most_workers = 64;

  std::size_t count_;
  unsigned shift_;
};

/// A position that was reached and is to be entered by whoever enters its partition. Small, since
/// many of them wait: it is packed only then.
template <puzzle P, class Node>
class reached_position : public held_position<P, Node> {
 public:
  using position = typename P::position;

  reached_position(const P& puzzle, position&& reached, const Node* parent)
      : held_position<P, Node>(std::move(reached)),
        hash(mixed_hash(puzzle, this->at)),
        from(parent) {}

  /// What the node is made of. The position itself stays valid if it is a packed one that is kept.
  decltype(auto) kept(const P& puzzle) {
    if constexpr (packed_puzzle<P>) {
      return puzzle.pack(std::as_const(this->at));
    } else {
      return std::move(this->at);
    }
  }

  std::uint64_t hash;
  const Node* from;
};

template <class Candidate>
class candidate_row {
 public:
  using buffer = search_vector<Candidate>;

  candidate_row(search_control& control, partitioning by)
      : by_(by), buffers_(by.count(), buffer(control)) {}

  template <class... Args>
  void emplace_back(Args&&... args) {
    Candidate reached(std::forward<Args>(args)...);
    buffer& target = buffers_[by_.of(reached.hash)];
    if (target.capacity() == 0) target.reserve(first_capacity);
    target.push_back(std::move(reached));
    ++size_;
  }

  /// Changed by whoever enters the partition.
  buffer& of_partition(std::size_t partition) noexcept { return buffers_[partition]; }
  /// What was reached since the start of the phase.
  std::size_t size() const noexcept { return size_; }
  void begin_phase() noexcept { size_ = 0; }

 private:
  static constexpr std::size_t first_capacity = 16;

  partitioning by_;
  std::vector<buffer> buffers_;
  std::size_t size_ = 0;
};

}  // namespace tandem::inline v0::detail
