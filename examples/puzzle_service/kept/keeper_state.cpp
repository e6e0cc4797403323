// keeper_state.cpp: how the keeping of answers stands, in words.
// SPDX-License-Identifier: MIT
#include "keeper_state.hpp"

#include <fmt/format.h>

#include <chrono>

namespace service {

std::string keeper_state::in_words() const {
  switch (database) {
    case database_state::none: return "none";
    case database_state::unknown: return "not reached yet";
    case database_state::there: return "there";
    case database_state::away: return "away since " + time_text(away_since) + ": " + reason;
  }
  return "";
}

std::string time_text(std::int64_t seconds) {
  using namespace std::chrono;
  constexpr std::int64_t most = 253'402'300'799;  // the year 9999 ends
  const sys_seconds when{std::chrono::seconds(seconds < 0 ? 0 : seconds < most ? seconds : most)};
  const auto day = floor<days>(when);
  const year_month_day date(day);
  const hh_mm_ss time(when - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace service
