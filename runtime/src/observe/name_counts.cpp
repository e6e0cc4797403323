// name_counts.cpp: which name has which number, and the sums over all threads.
// SPDX-License-Identifier: MIT
#include "observe/name_counts.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include <tandem/detail/split_mix.hpp>

#include "crew/worker.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::size_t looks = 8;  // at places, one after the other

std::uint64_t hash_of(const char* name) noexcept {
  return mixed(reinterpret_cast<std::uintptr_t>(name));  // NOLINT
}

}  // namespace

name_counts::name_counts() = default;
name_counts::~name_counts() = default;

name_counts::index name_counts::index_of(const char* name) noexcept {
  const std::uint64_t first = hash_of(name);
  for (std::size_t i = 0; i < looks; ++i) {
    const place& each = places_[(first + i) % places];
    const char* const there = each.name.load(std::memory_order_acquire);  // pairs with find()
    if (there == name) return each.of.load(std::memory_order_relaxed);
    if (there == nullptr) break;
  }
  return find(name);
}

name_counts::index name_counts::find(const char* name) noexcept {
  const std::lock_guard lock(lock_);
  index number = 0;
  while (number < count_ && std::strcmp(names_[number], name) != 0) ++number;
  if (number == count_ && count_ < most) names_[count_++] = name;
  const std::uint64_t first = hash_of(name);
  for (std::size_t i = 0; i < looks; ++i) {
    place& each = places_[(first + i) % places];
    const char* const there = each.name.load(std::memory_order_relaxed);  // under the lock
    if (there == name) break;
    if (there != nullptr) continue;
    each.of.store(number, std::memory_order_relaxed);
    each.name.store(name, std::memory_order_release);
    break;
  }
  return number;
}

void name_counts::add(const worker* on, index of, what kind, std::uint64_t n) noexcept {
  const auto number = static_cast<std::size_t>(kind);
  if (own_counts* const own = on != nullptr ? by_worker_.of(*on) : nullptr) {
    own->of[of][number].add(n);
  } else {
    by_others_[of][number].fetch_add(n, std::memory_order_relaxed);
  }
}

std::vector<task_counts> name_counts::read() const {
  std::vector<const char*> names;
  {
    const std::lock_guard lock(lock_);
    names.assign(names_.begin(), names_.begin() + count_);
  }
  // Beyond these nothing is counted; the last one is "other".
  std::vector<task_counts> out;
  for (std::size_t i = 0; i <= names.size(); ++i) {
    const bool is_other = i == names.size();
    const std::size_t of = is_other ? most : i;
    std::array<std::uint64_t, kinds> sums{};
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      sums[kind] = by_others_[of][kind].load(std::memory_order_relaxed);
    }
    by_worker_.for_each([&](const own_counts& own) {
      for (std::size_t kind = 0; kind < kinds; ++kind) sums[kind] += own.of[of][kind].read();
    });
    bool any = false;
    for (const std::uint64_t each : sums) any = any || each != 0;
    if (!any) continue;
    const auto sum = [&sums](what kind) { return sums[static_cast<std::size_t>(kind)]; };
    const auto time = [&sum](what kind) {
      return std::chrono::nanoseconds(static_cast<std::int64_t>(sum(kind)));
    };
    const std::string name = is_other ? "other" : names[i];
    // Tasks of somebody may be called so, too.
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&name](const task_counts& each) { return each.name == name; });
    task_counts& into = same != out.end() ? *same : out.emplace_back();
    into.name = name;
    into.ended += sum(what::ended);
    into.waits += sum(what::waits);
    into.wakes += sum(what::wakes);
    into.stalls += sum(what::stalls);
    into.steals += sum(what::steals);
    into.run += time(what::run_ns);
    into.queue_wait += time(what::queue_wait_ns);
  }
  return out;
}

}  // namespace tandem::inline v0::detail
