// explored_items.hpp: items that explored lanes hold, and what becomes of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <tandem/job.hpp>

#include "explore.hpp"

namespace tandem::test {

inline constexpr const char* taken_once = "every item is taken by exactly one";
inline constexpr const char* oldest_first = "a thief gets them in the order of their age";
inline constexpr const char* finds_all = "a lane in which the owner found nothing is empty";
inline constexpr const char* nobody_sleeps = "whoever goes to sleep sees the item, or is seen";
inline constexpr const char* data_ordered = "plain data is read after it was written";

struct item : job {
  watched<int> data;
  int number = 0;
  int taken = 0;  // threads change at atomics only: nothing interrupts a count
};

/// Items, numbered as they are put into a lane, and what becomes of them.
class items {
 public:
  explicit items(schedule& run) : run_(run) {}

  item* fresh() {
    if (made_ == all_.size()) return nullptr;
    item& next = all_[made_];
    next.number = static_cast<int>(++made_);
    next.data.write(next.number);
    return &next;
  }
  item* take(job* taken) {
    if (taken == nullptr) return nullptr;
    item& it = *static_cast<item*>(taken);
    ++it.taken;
    run_.require(it.taken == 1, taken_once);
    if (it.taken == 1) run_.require(it.data.read() == it.number, data_ordered);
    return &it;
  }

  int made() const { return static_cast<int>(made_); }
  int taken() const {
    int count = 0;
    for (const item& each : all_) count += each.taken;
    return count;
  }
  void require_each_taken_once() const {
    for (int i = 0; i < made(); ++i) {
      run_.require(all_[static_cast<std::size_t>(i)].taken == 1, taken_once);
    }
  }

 private:
  schedule& run_;
  std::array<item, 12> all_;
  std::size_t made_ = 0;
};

/// Takes what thieves of one thread get, and checks its order.
class thief {
 public:
  thief(schedule& run, items& all) : run_(run), all_(all) {}
  bool take(job* found) {
    const item* const it = all_.take(found);
    if (it == nullptr) return false;
    run_.require(it->number > last_, oldest_first);
    last_ = it->number;
    return true;
  }

 private:
  schedule& run_;
  items& all_;
  int last_ = 0;
};

}  // namespace tandem::test
