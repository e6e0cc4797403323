// search_memory.hpp: memory that a search accounts for.
// SPDX-License-Identifier: MIT
//
// Whatever grows with the search is allocated through a search_allocator, so that it is asked for
// before it is there, counted to the byte and given back when it is freed. An allocation that would
// pass the limit ends the search and throws std::bad_alloc, like one that the system refuses.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include <tandem/detail/search/search_control.hpp>

namespace tandem::inline v0::detail {

/// @thread_safety       as std::allocator; what it allocates is freed before the control ends
template <class T>
class search_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  // Implicit both, as containers expect of allocators.
  search_allocator(search_control& control) noexcept : control_(&control) {}
  template <class Other>
  search_allocator(const search_allocator<Other>& other) noexcept : control_(other.control()) {}

  T* allocate(std::size_t count) {
    claim taken(*control_, count * sizeof(T));
    T* const room = std::allocator<T>().allocate(count);
    taken.keep();
    return room;
  }
  void deallocate(T* room, std::size_t count) noexcept {
    std::allocator<T>().deallocate(room, count);
    control_->give_memory_back(count * sizeof(T));
  }

  search_control* control() const noexcept { return control_; }
  template <class Other>
  bool operator==(const search_allocator<Other>& other) const noexcept {
    return control_ == other.control();
  }

 private:
  // Given back if the allocation itself throws.
  class claim {
   public:
    claim(search_control& control, std::size_t bytes) : control_(&control), bytes_(bytes) {
      control.take_memory(bytes);
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    ~claim() {
      if (control_ != nullptr) control_->give_memory_back(bytes_);
    }
    void keep() noexcept { control_ = nullptr; }

   private:
    search_control* control_;
    std::size_t bytes_;
  };

  search_control* control_;
};

template <class T>
using search_vector = std::vector<T, search_allocator<T>>;

}  // namespace tandem::inline v0::detail
