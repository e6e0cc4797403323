// service_table.cpp: the services of a runtime.
// SPDX-License-Identifier: MIT
#include "runtime/service_table.hpp"

#include <stdexcept>
#include <utility>

namespace tandem::inline v0::detail {

service* service_table::find(const void* key) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) {
    if (entries_[i].key == key) return entries_[i].object.get();
  }
  return nullptr;
}

void service_table::append_metrics(std::vector<metric_family>& out) const {
  const std::size_t count = count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) entries_[i].object->append_metrics(out);
}

bool service_table::awaits_anything() const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) {
    if (entries_[i].object->awaits_anything()) return true;
  }
  return false;
}

void service_table::append_decisions(std::vector<timed_decision>& out) const {
  const std::size_t count = count_.load(std::memory_order_acquire);  // pairs with add
  for (std::size_t i = 0; i < count; ++i) {
    const service& each = *entries_[i].object;
    each.for_each_decision(
        [&](std::chrono::steady_clock::time_point when, const pool_decision& what) {
          out.push_back(timed_decision{when.time_since_epoch().count(),
                                       std::string(each.service_name()), what});
        });
  }
}

void service_table::add(const void* key, std::unique_ptr<service> made) {
  const std::size_t count = count_.load(std::memory_order_relaxed);  // under the lock
  if (count == limit) throw std::length_error("a runtime has room for 32 services");
  entries_[count].key = key;
  entries_[count].object = std::move(made);
  count_.store(count + 1, std::memory_order_release);
}

void service_table::stop() noexcept {
  for (std::size_t i = count_.load(std::memory_order_acquire); i-- > 0;) entries_[i].object->stop();
}

}  // namespace tandem::inline v0::detail
