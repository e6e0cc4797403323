// completion_growth.cpp: the ranges of the rule's constants.
// SPDX-License-Identifier: MIT
#include <limits>
#include <stdexcept>
#include <string>
#include <tandem/io/completion_growth.hpp>

namespace tandem::inline v0::io {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void refuse(const char* option, const std::string& is, const std::string& rule) {
  throw std::invalid_argument(std::string("completion_growth::") + option + " is " + is +
                              ": it has to be " + rule);
}

/// `good` is written so that NaN is refused, too.
void check(const char* option, double value, bool good, const char* rule) {
  if (!good || value == std::numeric_limits<double>::infinity()) {
    refuse(option, std::to_string(value), rule);
  }
}

void check_count(const char* option, unsigned value, unsigned least, unsigned most) {
  if (value >= least && value <= most) return;
  refuse(option, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
}

void check_time(const char* option, std::chrono::nanoseconds value, std::chrono::hours most) {
  if (value >= 1ms && value <= most) return;
  refuse(option, std::to_string(value.count()) + " ns",
         "1 ms to " + std::to_string(most.count()) + " h");
}

}  // namespace

void completion_growth::validate() const {
  check_time("period", period, 1h);
  check_count("looks", looks, 4, 1000);
  check("saturated_share", saturated_share, saturated_share > 0 && saturated_share <= 1,
        "above 0, at most 1");
  check_count("saturated_periods", saturated_periods, 1, 1'000'000);
  check_time("stalled_for", stalled_for, 1h);
  // Else a thread might come and go with one and the same load.
  check("fit_share", fit_share, fit_share > 0 && fit_share < saturated_share,
        "above 0, and below saturated_share");
  check("fit_backlog", fit_backlog, fit_backlog >= 0, "at least 0, and finite");
  check("load_smoothing", load_smoothing, load_smoothing > 0 && load_smoothing <= 1,
        "above 0, at most 1");
  check_time("keep_alive", keep_alive, 24h);
  check_count("max_back_off", max_back_off, 1, 1000);
}

}  // namespace tandem::inline v0::io
