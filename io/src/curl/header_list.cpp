// header_list.cpp: fields in one string, and how names are compared.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <tandem/io/curl/header_list.hpp>

namespace tandem::inline v0::io::curl {

namespace {

/// Of ASCII, whatever the locale says.
char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

void header_list::add(std::string_view name, std::string_view value) {
  const place added{static_cast<std::uint32_t>(text_.size()),
                    static_cast<std::uint32_t>(name.size()),
                    static_cast<std::uint32_t>(value.size())};
  text_.append(name).append(value);
  places_.push_back(added);
}

void header_list::continue_last(std::string_view more) {
  if (places_.empty()) return;
  text_.append(" ").append(more);
  places_.back().value_size += static_cast<std::uint32_t>(more.size()) + 1;
}

void header_list::clear() noexcept {
  text_.clear();
  places_.clear();
}

std::optional<std::string_view> header_list::find(std::string_view name) const noexcept {
  for (const header_field field : *this) {
    if (same_name(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> header_list::all(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const header_field field : *this) {
    if (same_name(field.name, name)) found.push_back(field.value);
  }
  return found;
}

header_field header_list::operator[](std::size_t index) const noexcept {
  const place at = places_[index];
  const std::string_view text(text_);
  return {text.substr(at.begin, at.name_size), text.substr(at.begin + at.name_size, at.value_size)};
}

}  // namespace tandem::inline v0::io::curl
