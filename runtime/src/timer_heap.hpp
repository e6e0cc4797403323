// timer_heap.hpp: an intrusive pairing heap of timer nodes, earliest first.
// SPDX-License-Identifier: MIT
//
// Fredman, Sedgewick, Sleator, Tarjan, "The Pairing Heap" (1986). Insertion is O(1), removal of any
// node O(log n) amortised; no memory beside the nodes. Guarded by its shard's lock.
#pragma once

#include <utility>

#include <tandem/detail/timer.hpp>

namespace tandem::inline v0::detail {

class timer_heap {
 public:
  timer_node* first() const noexcept { return root_; }

  void insert(timer_node& node) noexcept {
    node.child_ = node.sibling_ = node.previous_ = nullptr;
    root_ = meld(root_, &node);
  }

  void remove(timer_node& node) noexcept {
    if (&node == root_) {
      root_ = merge_pairs(node.child_);
      return;
    }
    if (node.previous_->child_ == &node) {
      node.previous_->child_ = node.sibling_;
    } else {
      node.previous_->sibling_ = node.sibling_;
    }
    if (node.sibling_ != nullptr) node.sibling_->previous_ = node.previous_;
    root_ = meld(root_, merge_pairs(node.child_));
  }

 private:
  static timer_node* meld(timer_node* a, timer_node* b) noexcept {
    if (a == nullptr) return b;
    if (b == nullptr) return a;
    if (b->deadline_ns_ < a->deadline_ns_) std::swap(a, b);
    b->sibling_ = a->child_;
    if (b->sibling_ != nullptr) b->sibling_->previous_ = b;
    b->previous_ = a;
    a->child_ = b;
    return a;
  }

  /// Two passes, iterative: pairs from the left, then all of them from the right.
  static timer_node* merge_pairs(timer_node* list) noexcept {
    timer_node* pairs = nullptr;  // linked by sibling_, last pair first
    while (list != nullptr) {
      timer_node* const a = list;
      timer_node* const b = a->sibling_;
      list = b != nullptr ? b->sibling_ : nullptr;
      a->sibling_ = a->previous_ = nullptr;
      if (b != nullptr) b->sibling_ = b->previous_ = nullptr;
      timer_node* const pair = meld(a, b);
      pair->sibling_ = pairs;
      pairs = pair;
    }
    timer_node* merged = nullptr;
    while (pairs != nullptr) {
      timer_node* const next = pairs->sibling_;
      pairs->sibling_ = nullptr;
      merged = meld(merged, pairs);
      pairs = next;
    }
    return merged;
  }

  timer_node* root_ = nullptr;
};

}  // namespace tandem::inline v0::detail
