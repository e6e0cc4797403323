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

/// What the look at a slot says: a report, one to wait for, or that the caller is to make one. Then
/// its end is told to whoever waits, also if there is no report.
class runtime_reports::turn {
 public:
  turn(std::mutex& lock, slot& of) : lock_(lock), of_(of) {
    const std::lock_guard guard(lock_);
    const auto age = std::chrono::steady_clock::now() - of_.made_at;
    if (of_.last && age < young_enough) {
      known = of_.last;
    } else if (of_.ends) {
      other_ends = of_.ends;
    } else {
      of_.ends = own_end_ = std::make_shared<tandem::event>();
    }
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    if (!own_end_) return;
    {
      const std::lock_guard guard(lock_);
      of_.ends = nullptr;
    }
    own_end_->set();
  }

  void keep(const text& made) {
    const std::lock_guard guard(lock_);
    of_.last = made;
    of_.made_at = std::chrono::steady_clock::now();
  }

  text known;
  std::shared_ptr<tandem::event> other_ends;

 private:
  std::mutex& lock_;
  slot& of_;
  std::shared_ptr<tandem::event> own_end_;
};

tandem::task<runtime_reports::text> runtime_reports::get(report_kind wanted) {
  while (true) {
    turn own(lock_, reports_.at(static_cast<std::size_t>(wanted)));
    if (own.known) co_return own.known;
    if (own.other_ends) {
      co_await own.other_ends->wait();
      continue;
    }
    const auto making = [this, wanted] { return make(wanted); };
    std::string report = co_await tandem::blocking(making);
    const text made = std::make_shared<const std::string>(std::move(report));
    own.keep(made);
    co_return made;
  }
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
