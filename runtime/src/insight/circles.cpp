// circles.cpp: finds them by following each wait once.
// SPDX-License-Identifier: MIT
#include "insight/circles.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace tandem::inline v0::detail {

namespace {

enum class mark : unsigned char { fresh, on_path, done };

struct place {
  std::vector<const seen_edge*> edges;
  std::size_t next = 0;
  mark seen = mark::fresh;
};

/// circles/branches. Which tasks are stuck, found from those that are not.
class stuck_tasks {
 public:
  explicit stuck_tasks(const snapshot& in) {
    if (in.unseen_runs != 0) return;  // it may be a branch of any of them
    for (const seen_edge& each : in.edges) {
      if (!counts(each)) continue;
      places_[each.awaited].awaited_by.push_back(&each);
      if (each.joiner == 0 || left_of_[each.joiner]++ == 0) ++places_[each.waiting].blocked;
    }
    for (auto& [id, of] : places_) {
      if (in.free_branches.contains(id) || of.blocked == 0) may_release(id, of);
      if (of.blocked == 0) may_end(id, of);
    }
    settle();
  }

  /// Neither it nor anybody else lets the wait go on.
  bool is_stuck(const seen_edge& edge) const {
    if (!counts(edge)) return false;
    const auto found = places_.find(edge.awaited);
    if (found == places_.end()) return false;
    return edge.object != nullptr ? !found->second.releases : !found->second.ends;
  }

 private:
  static bool counts(const seen_edge& edge) noexcept {
    return edge.is_known && edge.is_certain && edge.awaited != 0;
  }
  struct place {
    std::vector<const seen_edge*> awaited_by;
    std::size_t blocked = 0;  // branches of it that have not been seen to go on
    bool releases = false;    // one of its branches goes on, so it may unlock what it holds
    bool ends = false;        // all go on
  };

  void may_release(std::uint64_t id, place& of) {
    if (of.releases) return;
    of.releases = true;
    changed_.push_back(id);
  }
  void may_end(std::uint64_t id, place& of) {
    if (of.ends) return;
    of.ends = true;
    changed_.push_back(id);
  }
  void settle() {
    while (!changed_.empty()) {
      const std::uint64_t id = changed_.back();
      changed_.pop_back();
      place& of = places_[id];
      std::vector<const seen_edge*> left;
      for (const seen_edge* const each : of.awaited_by) {
        if (each->object != nullptr ? !of.releases : !of.ends) {
          left.push_back(each);
        } else if (each->joiner == 0 || --left_of_[each->joiner] == 0) {
          branch_goes_on(each->waiting);
        }
      }
      of.awaited_by = std::move(left);
    }
  }
  void branch_goes_on(std::uint64_t id) {
    place& of = places_[id];
    may_release(id, of);
    if (--of.blocked == 0) may_end(id, of);
  }

  std::unordered_map<std::uint64_t, place> places_;
  // By joiner: its children that have not been seen to end.
  std::unordered_map<std::uint64_t, std::size_t> left_of_;
  std::vector<std::uint64_t> changed_;
};

/// With the smallest id in front.
void turn(std::vector<seen_edge>& circle) {
  const auto first = std::min_element(
      circle.begin(), circle.end(),
      [](const seen_edge& a, const seen_edge& b) { return a.waiting < b.waiting; });
  std::rotate(circle.begin(), first, circle.end());
}

}  // namespace

std::vector<std::vector<seen_edge>> circles_of(const snapshot& in) {
  std::unordered_map<std::uint64_t, place> places;
  const stuck_tasks stuck(in);
  for (const seen_edge& each : in.edges) {
    if (stuck.is_stuck(each)) places[each.waiting].edges.push_back(&each);
  }
  std::set<std::vector<std::uint64_t>> known;  // by their tasks
  std::vector<std::vector<seen_edge>> found;
  std::vector<const seen_edge*> path;
  std::vector<std::uint64_t> on_path;
  for (const seen_edge& start : in.edges) {
    const auto begin = places.find(start.waiting);
    if (begin == places.end() || begin->second.seen != mark::fresh) continue;
    begin->second.seen = mark::on_path;
    on_path.push_back(start.waiting);
    while (!on_path.empty()) {
      place& at = places.find(on_path.back())->second;
      if (at.next == at.edges.size()) {
        at.seen = mark::done;
        on_path.pop_back();
        if (!path.empty()) path.pop_back();
        continue;
      }
      const seen_edge* const edge = at.edges[at.next++];
      const auto to = places.find(edge->awaited);
      if (to == places.end() || to->second.seen == mark::done) continue;
      if (to->second.seen == mark::on_path) {
        const auto from = std::find(on_path.begin(), on_path.end(), edge->awaited);
        std::vector<seen_edge> circle;
        for (auto i = from - on_path.begin(); i < static_cast<std::ptrdiff_t>(path.size()); ++i) {
          circle.push_back(*path[static_cast<std::size_t>(i)]);
        }
        circle.push_back(*edge);
        turn(circle);
        std::vector<std::uint64_t> tasks;
        for (const seen_edge& each : circle) tasks.push_back(each.waiting);
        if (known.insert(std::move(tasks)).second) found.push_back(std::move(circle));
        continue;
      }
      to->second.seen = mark::on_path;
      on_path.push_back(edge->awaited);
      path.push_back(edge);
    }
  }
  return found;
}

}  // namespace tandem::inline v0::detail
