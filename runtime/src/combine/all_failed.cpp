// all_failed.cpp: what is said where nothing has succeeded.
// SPDX-License-Identifier: MIT
#include <tandem/all_failed.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <tandem/detail/failure_text.hpp>
#include <tandem/detail/report_suppressed.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>

namespace tandem::inline v0 {

namespace {

constexpr std::size_t told_at_most = 8;  // of a long range the first ones tell enough

std::string text_of_all(const std::vector<std::exception_ptr>& failures) {
  std::string text = failures.size() == 1 ? "the only one has failed" : "all have failed";
  const std::size_t told = std::min(failures.size(), told_at_most);
  for (std::size_t i = 0; i < told; ++i) {
    text += i == 0 ? ": " : "; ";
    text += detail::text_of(failures[i]);
  }
  if (told < failures.size()) text += "; " + std::to_string(failures.size() - told) + " more";
  return text;
}

}  // namespace

all_failed::all_failed(std::vector<std::exception_ptr> failures)
    : std::runtime_error(text_of_all(failures)),
      failures_(std::make_shared<std::vector<std::exception_ptr>>(std::move(failures))) {}

all_failed::~all_failed() = default;

namespace detail {

std::exception_ptr failure_of_all(std::vector<std::exception_ptr>&& failures) noexcept {
  const bool was_cut_short =
      stop_requested() && std::any_of(failures.begin(), failures.end(), &is_cancellation);
  try {
    if (!was_cut_short) return std::make_exception_ptr(all_failed(std::move(failures)));
  } catch (...) {  // no memory for the text
    return std::current_exception();
  }
  for (const std::exception_ptr& each : failures) report_suppressed(*current_environment(), each);
  return cancellation(current_stop_reason());
}

}  // namespace detail
}  // namespace tandem::inline v0
