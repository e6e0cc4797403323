// event_log.hpp: hooks that write down what they are told, and the laws that all of it has to obey.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tandem/pool_options.hpp>
#include <vector>

namespace tandem::test {

/// Tasks are numbered in the order in which they are first told of.
///
/// @thread_safety  to be read when its runtime has ended, but for the counts
class event_log {
 public:
  event_log() = default;
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  void watch(pool_options& options) {
    options.hooks.on_task_begin = [this](const task_event& e) { add(kind::begin, e); };
    options.hooks.before_segment = [this](const task_event& e) { add(kind::before, e); };
    options.hooks.after_segment = [this](const task_event& e) { add(kind::after, e); };
    options.hooks.on_task_end = [this](const task_event& e) { add(kind::end, e); };
  }

  std::size_t tasks() const {
    const std::lock_guard guard(lock_);
    return ids_.size();
  }
  std::size_t count_of(task_outcome outcome) const {
    const std::lock_guard guard(lock_);
    return static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(),
        [&](const entry& each) { return each.what == kind::end && each.told.outcome == outcome; }));
  }
  std::vector<std::string> of_task(std::size_t number) const {
    std::vector<std::string> lines;
    for (const entry& each : entries_of(number)) lines.push_back(line_of(each));
    return lines;
  }
  std::string end_of(std::size_t number) const {
    for (const entry& each : entries_of(number)) {
      if (each.what == kind::end) return line_of(each);
    }
    return "no end";
  }
  task_event end_event(std::size_t number) const {
    for (const entry& each : entries_of(number)) {
      if (each.what == kind::end) return each.told;
    }
    return {};
  }
  std::set<int> workers_of(std::size_t number) const {
    std::set<int> workers;
    for (const entry& each : entries_of(number)) workers.insert(each.told.worker);
    return workers;
  }

  /// Of each task: one end; one begin, first, unless it was removed; each segment begins and ends
  /// once; and the times add up to its life.
  bool is_well_formed() const {
    for (std::size_t i = 0; i < tasks(); ++i) {
      const std::string fault = fault_of(entries_of(i));
      if (fault.empty()) continue;
      std::printf("task %zu: %s\n", i, fault.c_str());
      for (const std::string& each : of_task(i)) std::printf("  %s\n", each.c_str());
      return false;
    }
    return true;
  }

 private:
  enum class kind : std::uint8_t { begin, before, after, end };
  struct entry {
    kind what;
    task_event told;
  };

  void add(kind what, const task_event& told) {
    const std::lock_guard guard(lock_);
    if (std::find(ids_.begin(), ids_.end(), told.id) == ids_.end()) ids_.push_back(told.id);
    entries_.push_back({what, told});
  }
  std::vector<entry> entries_of(std::size_t number) const {
    const std::lock_guard guard(lock_);
    std::vector<entry> found;
    if (number >= ids_.size()) return found;
    for (const entry& each : entries_) {
      if (each.told.id == ids_[number]) found.push_back(each);
    }
    return found;
  }
  static std::string ms(std::chrono::nanoseconds time) {
    char text[40];
    std::snprintf(text, sizeof text, "%gms",
                  std::chrono::duration<double, std::milli>(time).count());
    return text;
  }
  static std::string line_of(const entry& of) {
    const task_event& told = of.told;
    std::string number("#");  // a sum of both: g++ 12 warns of a copy of SIZE_MAX bytes
    number += std::to_string(told.segments);
    switch (of.what) {
      case kind::begin: return "begin wait=" + ms(told.queue_wait);
      case kind::before: return "before " + number + " wait=" + ms(told.queue_wait);
      case kind::after: return "after " + number + " run=" + ms(told.run);
      case kind::end: break;
    }
    return "end wait=" + ms(told.queue_wait) + " run=" + ms(told.run) +
           " suspended=" + ms(told.suspended) + " segments=" + std::to_string(told.segments) + " " +
           to_string(told.outcome);
  }
  static std::string fault_of(const std::vector<entry>& all) {
    std::vector<std::uint64_t> begun;
    std::vector<std::uint64_t> ended;
    const entry* begin = nullptr;
    const entry* end = nullptr;
    for (const entry& each : all) {
      if (each.what == kind::before) begun.push_back(each.told.segments);
      if (each.what == kind::after) ended.push_back(each.told.segments);
      const entry** const once = each.what == kind::begin ? &begin : &end;
      if (each.what != kind::begin && each.what != kind::end) continue;
      if (*once != nullptr) return "a begin, or an end, was told twice";
      *once = &each;
    }
    if (end == nullptr) return "no end";
    std::sort(begun.begin(), begun.end());
    std::sort(ended.begin(), ended.end());
    if (begun != ended) return "not each segment has a begin and an end";
    if (begun.size() != end->told.segments) return "a segment was not told of";
    if (std::adjacent_find(begun.begin(), begun.end()) != begun.end()) return "a segment twice";
    if (end->told.outcome == task_outcome::removed) {
      return begin == nullptr && begun.empty() ? "" : "it was removed, and ran";
    }
    if (begin != &all.front()) return "the begin is not the first";
    const auto life = end->told.when - (begin->told.when - begin->told.queue_wait);
    const auto sum = end->told.queue_wait + end->told.run + end->told.suspended;
    return life == sum ? "" : "the times do not add up: " + ms(life) + ", not " + ms(sum);
  }

  mutable std::mutex lock_;
  std::vector<std::uint64_t> ids_;
  std::vector<entry> entries_;
};

}  // namespace tandem::test
