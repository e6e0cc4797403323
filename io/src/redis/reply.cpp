// reply.cpp: see reply.hpp
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/redis/reply.hpp>

namespace tandem::inline v0::io::redis {
namespace {

template <class Number>
bool parse(std::string_view text, Number& number) noexcept {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end;
}

/// At most so much of a text, in an error.
constexpr std::size_t most_shown = 60;

}  // namespace

const char* to_string(reply_kind kind) noexcept {
  switch (kind) {
    case reply_kind::nil: return "nil";
    case reply_kind::status: return "a status";
    case reply_kind::error: return "an error";
    case reply_kind::integer: return "an integer";
    case reply_kind::string: return "a string";
    case reply_kind::array: return "an array";
  }
  return "unknown";
}

std::string_view reply::text() const noexcept {
  const auto* const found = std::get_if<std::string>(&value_);
  return found != nullptr ? std::string_view(*found) : std::string_view();
}

std::span<const reply> reply::elements() const noexcept {
  const auto* const found = std::get_if<std::vector<reply>>(&value_);
  return found != nullptr ? std::span<const reply>(*found) : std::span<const reply>();
}

const reply& reply::operator[](std::size_t index) const {
  const auto* const found = std::get_if<std::vector<reply>>(&value_);
  if (found == nullptr || index >= found->size()) {
    throw std::out_of_range("redis::reply: no element " + std::to_string(index));
  }
  return (*found)[index];
}

reply& reply::append(reply&& element) {
  return std::get<std::vector<reply>>(value_).emplace_back(std::move(element));
}

std::string reply::read_text() const {
  if (const auto* const text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* const number = std::get_if<std::int64_t>(&value_)) return std::to_string(*number);
  throw_unexpected("a text");
}

std::string reply::take_text() && {
  if (auto* const text = std::get_if<std::string>(&value_)) return std::move(*text);
  return read_text();
}

std::vector<reply> reply::take_elements() && {
  if (auto* const found = std::get_if<std::vector<reply>>(&value_)) return std::move(*found);
  throw_unexpected("an array");
}

std::int64_t reply::read_signed() const {
  std::int64_t number = 0;
  if (const auto* const found = std::get_if<std::int64_t>(&value_)) return *found;
  if (kind_ == reply_kind::string && parse(text(), number)) return number;
  throw_unexpected("an integer");
}

std::uint64_t reply::read_unsigned() const {
  std::uint64_t number = 0;
  if (const auto* const found = std::get_if<std::int64_t>(&value_)) {
    if (*found >= 0) return static_cast<std::uint64_t>(*found);
  } else if (kind_ == reply_kind::string && parse(text(), number)) {
    return number;
  }
  throw_unexpected("an integer of at least 0");
}

double reply::read_double() const {
  double number = 0;
  if (const auto* const found = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*found);
  }
  if (kind_ == reply_kind::string && parse(text(), number)) return number;
  throw_unexpected("a number");
}

bool reply::read_bool() const {
  if (const auto* const found = std::get_if<std::int64_t>(&value_)) return *found != 0;
  if (kind_ == reply_kind::status && text() == "OK") return true;
  throw_unexpected("yes or no");
}

std::span<const reply> reply::read_elements(const char* wanted) const {
  const auto* const found = std::get_if<std::vector<reply>>(&value_);
  if (found == nullptr) throw_unexpected(wanted);
  return *found;
}

void reply::throw_error() const { throw error(std::string(text())); }

void reply::throw_unexpected(const char* wanted) const {
  check();  // of an array's element
  if (is_nil()) {
    throw error(errc::unexpected_reply, std::string("wanted ") + wanted + ", got nil");
  }
  std::string shown = to_string();
  if (shown.size() > most_shown) shown.replace(most_shown, std::string::npos, "...");
  throw error(errc::unexpected_reply,
              std::string("wanted ") + wanted + ", got " + redis::to_string(kind_) + ": " + shown);
}

std::string reply::to_string() const {
  if (const auto* const number = std::get_if<std::int64_t>(&value_)) return std::to_string(*number);
  if (kind_ == reply_kind::nil) return "(nil)";
  if (kind_ == reply_kind::error) return "(error) " + std::string(text());
  if (kind_ == reply_kind::status) return std::string(text());
  if (kind_ == reply_kind::string) return '"' + std::string(text()) + '"';
  std::string all = "[";
  for (const reply& each : elements()) {
    if (all.size() > 1) all += ", ";
    all += each.to_string();
  }
  return all + "]";
}

}  // namespace tandem::inline v0::io::redis
