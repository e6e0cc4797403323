// circles.cpp: finds them by following each wait once.
// SPDX-License-Identifier: MIT
#include "insight/circles.hpp"

#include <algorithm>
#include <unordered_map>

namespace tandem::inline v0::detail {

namespace {

enum class mark : unsigned char { fresh, on_path, done };

struct place {
  std::vector<const seen_edge*> edges;
  std::size_t next = 0;
  mark seen = mark::fresh;
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
  for (const seen_edge& each : in.edges) {
    if (each.is_known && each.is_certain && each.awaited != 0) {
      places[each.waiting].edges.push_back(&each);
    }
  }
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
        found.push_back(std::move(circle));
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
