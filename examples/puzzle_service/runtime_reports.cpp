// runtime_reports.cpp: what the tasks of the service wait for, told to many at the price of one.
// SPDX-License-Identifier: MIT
#include "runtime_reports.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include <tandem/blocking.hpp>

namespace service {

namespace {
constexpr std::chrono::milliseconds young_enough(250);
}  // namespace

tandem::task<runtime_reports::text> runtime_reports::get(report_kind wanted) {
  const auto alone = co_await making_.scoped_lock();
  made& last = last_.at(static_cast<std::size_t>(wanted));
  if (last.what && std::chrono::steady_clock::now() - last.at < young_enough) co_return last.what;
  const auto making = [this, wanted] { return make(wanted); };
  std::string report = co_await tandem::blocking(making);
  last.what = std::make_shared<const std::string>(std::move(report));
  last.at = std::chrono::steady_clock::now();
  co_return last.what;
}

std::string runtime_reports::make(report_kind wanted) const {
  if (wanted == report_kind::advice) {
    // Sentences may name files, whose names need not be UTF-8.
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    const nlohmann::json found = {{"advice", about_.diagnose()}};
    return found.dump(-1, ' ', false, replace) + "\n";
  }
  tandem::dump_options options;
  if (wanted == report_kind::tasks_json) options.format = tandem::dump_format::json;
  return about_.dump(options);
}

}  // namespace service
