// blocking_queue.hpp: blocking calls that wait for a thread. Under the lock of their pool.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tandem/detail/blocking_request.hpp>

namespace tandem::inline v0::detail {

/// Intrusive FIFO; any member can leave.
class blocking_queue {
 public:
  void push(blocking_request& request) noexcept {
    request.previous_ = last_;
    request.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &request;
    last_ = &request;
    ++size_;
  }
  blocking_request* pop() noexcept {
    blocking_request* const oldest = first_;
    if (oldest != nullptr) remove(*oldest);
    return oldest;
  }
  void remove(blocking_request& request) noexcept {
    (request.previous_ != nullptr ? request.previous_->next_ : first_) = request.next_;
    (request.next_ != nullptr ? request.next_->previous_ : last_) = request.previous_;
    --size_;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  blocking_request* first_ = nullptr;
  blocking_request* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tandem::inline v0::detail
