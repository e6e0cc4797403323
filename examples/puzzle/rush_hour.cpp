// rush_hour.cpp: Rush Hour in 54 bits.
// SPDX-License-Identifier: MIT
#include "rush_hour.hpp"

#include <algorithm>
#include <stdexcept>

namespace puzzles {

namespace {

constexpr unsigned side = rush_hour_board::side;
constexpr unsigned red_row = rush_hour_board::red_row;

}  // namespace

rush_hour_puzzle::rush_hour_puzzle(const rush_hour_board& start, metric counted)
    : metric_(counted) {
  for (unsigned cell = 0; cell < rush_hour_board::cells; ++cell) {
    if (start.is_wall(cell)) walls_ |= std::uint64_t{1} << cell;
  }
  std::uint64_t places = 0;
  for (const rush_hour_car& each : start.cars()) {
    const auto which = static_cast<unsigned>(cars_.size());
    car added;
    added.first = each.is_lying ? each.row * side : each.col;
    added.stride = each.is_lying ? 1 : side;
    added.length = each.length;
    added.last = side - each.length;
    std::array<std::uint64_t, 8> masks{};
    for (unsigned place = 0; place <= added.last; ++place) {
      for (unsigned i = 0; i < added.length; ++i) {
        masks[place] |= std::uint64_t{1} << (added.first + (place + i) * added.stride);
      }
    }
    if (each.letter == 'A') {
      red_ = which;
      exit_place_ = added.last;
    }
    places |= std::uint64_t{each.place()} << (3 * which);
    cars_.push_back(added);
    masks_.push_back(masks);
  }
  start_ = unpack(places);
  bound_places(start);
}

/// Cars of one line keep their order, and none passes a wall.
void rush_hour_puzzle::bound_places(const rush_hour_board& board) {
  before_.assign(cars_.size(), -1);
  for (unsigned which = 0; which < cars_.size(); ++which) {
    car& own = cars_[which];
    const unsigned here = start_.place(which);
    const auto is_wall = [&](unsigned place) {
      return board.is_wall(own.first + place * own.stride);
    };
    own.lowest = here;
    while (own.lowest > 0 && !is_wall(own.lowest - 1)) --own.lowest;
    own.highest = here;
    while (own.highest < own.last && !is_wall(own.highest + own.length)) ++own.highest;
    for (unsigned other = 0; other < which; ++other) {
      if (cars_[other].first == own.first && cars_[other].stride == own.stride) {
        before_[which] = static_cast<int>(other);
      }
    }
  }
  // What the neighbours on the line need in any case.
  for (unsigned which = 0; which < cars_.size(); ++which) {
    if (before_[which] < 0) continue;
    const car& before = cars_[static_cast<unsigned>(before_[which])];
    cars_[which].lowest = std::max(cars_[which].lowest, before.lowest + before.length);
  }
  for (auto which = static_cast<unsigned>(cars_.size()); which-- > 0;) {
    if (before_[which] < 0) continue;
    car& before = cars_[static_cast<unsigned>(before_[which])];
    before.highest = std::min(before.highest, cars_[which].highest - before.length);
  }
}

rush_hour_moves rush_hour_puzzle::legal_moves(const position& at) const noexcept {
  rush_hour_moves moves;
  const unsigned farthest = metric_ == metric::steps ? 1 : side;
  for (unsigned which = 0; which < cars_.size(); ++which) {
    const unsigned place = at.place(which);
    const std::uint64_t others = at.taken & ~cells_of(which, place);
    const unsigned last = std::min(cars_[which].last, place + farthest);
    for (unsigned to = place + 1; to <= last && (cells_of(which, to) & others) == 0; ++to) {
      moves.push_back(move(which, place, to));
    }
    const unsigned first = place > farthest ? place - farthest : 0;
    for (unsigned to = place; to-- > first && (cells_of(which, to) & others) == 0;) {
      moves.push_back(move(which, place, to));
    }
  }
  return moves;
}

auto rush_hour_puzzle::apply(const position& at, move by) const noexcept -> position {
  position next = at;
  next.places ^= std::uint64_t{static_cast<unsigned>(by.from ^ by.to)} << (3 * by.car);
  next.taken ^= cells_of(by.car, by.from) ^ cells_of(by.car, by.to);
  return next;
}

auto rush_hour_puzzle::unpack(std::uint64_t places) const noexcept -> position {
  position at;
  at.places = places;
  at.taken = walls_;
  for (unsigned which = 0; which < cars_.size(); ++which) {
    at.taken |= cells_of(which, at.place(which));
  }
  return at;
}

auto rush_hour_puzzle::goals() const -> std::vector<position> {
  std::vector<position> found;
  position empty;
  empty.taken = walls_;
  arrange(empty, 0, found);
  return found;
}

void rush_hour_puzzle::arrange(position at, unsigned which, std::vector<position>& found) const {
  if (which == cars_.size()) {
    if (found.size() == most_goals) {
      throw std::invalid_argument(
          "bidirectional: the board has too many goals: take another solver");
    }
    found.push_back(at);
    return;
  }
  unsigned lowest = cars_[which].lowest;
  unsigned highest = cars_[which].highest;
  if (before_[which] >= 0) {
    const auto before = static_cast<unsigned>(before_[which]);
    lowest = std::max(lowest, at.place(before) + cars_[before].length);
  }
  if (which == red_) lowest = std::max(lowest, exit_place_);
  for (unsigned place = lowest; place <= highest; ++place) {
    if ((cells_of(which, place) & at.taken) != 0) continue;
    position next = at;
    next.places |= std::uint64_t{place} << (3 * which);
    next.taken |= cells_of(which, place);
    arrange(next, which + 1, found);
  }
}

/// The cells that a car needs on its way, without those where it is.
std::uint64_t rush_hour_puzzle::swept(unsigned which, unsigned from, unsigned to) const noexcept {
  std::uint64_t cells = 0;
  for (unsigned place = std::min(from, to); place <= std::max(from, to); ++place) {
    cells |= cells_of(which, place);
  }
  return cells & ~cells_of(which, from);
}

tandem::search_cost rush_hour_puzzle::heuristic(const position& at) const noexcept {
  if (is_goal(at)) return 0;
  if (cars_[red_].highest < exit_place_) return tandem::unreachable;
  const unsigned place = at.place(red_);
  const std::uint64_t ahead = swept(red_, place, exit_place_);
  tandem::search_cost sum = metric_ == metric::steps ? exit_place_ - place : 1;
  std::uint64_t counted = 0;
  for (unsigned which = 0; which < cars_.size(); ++which) {
    if (which == red_ || (cells_of(which, at.place(which)) & ahead) == 0) continue;
    const tandem::search_cost cost = cost_to_clear(at, which, counted);
    if (cost == tandem::unreachable) return cost;
    sum += cost;
  }
  return sum;
}

/// What it costs to get an upright car out of the red car's row. Where neither way is free, one of
/// the cars in it has to move, too: none of those is in the red row. It counts unless it may be the
/// one that was counted for another car.
tandem::search_cost rush_hour_puzzle::cost_to_clear(const position& at, unsigned which,
                                                    std::uint64_t& counted) const noexcept {
  const car& own = cars_[which];
  const unsigned place = at.place(which);
  tandem::search_cost nearest = tandem::unreachable;
  bool is_free = false;
  std::uint64_t in_the_way = 0;
  const auto look = [&](unsigned to) {
    nearest =
        std::min(nearest, metric_ == metric::moves ? 1 : std::max(place, to) - std::min(place, to));
    const std::uint64_t cells = swept(which, place, to) & at.taken;
    is_free = is_free || cells == 0;
    in_the_way |= cells;
  };
  if (own.lowest + own.length <= red_row) look(red_row - own.length);
  if (own.highest > red_row) look(red_row + 1);
  if (nearest == tandem::unreachable || is_free) return nearest;
  // By whole cars, since two ways may meet different cells of one.
  std::uint64_t cars = 0;
  for (unsigned other = 0; other < cars_.size(); ++other) {
    const std::uint64_t cells = cells_of(other, at.place(other));
    if ((cells & in_the_way) != 0) cars |= cells;
  }
  if ((cars & counted) != 0) return nearest;
  counted |= cars;
  return nearest + 1;
}

}  // namespace puzzles
