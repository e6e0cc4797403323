// header_list.hpp: the fields of a head, in their order, found by name whatever its case.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tandem/io/curl/export.hpp>
#include <vector>

namespace tandem::inline v0::io::curl {

/// One field; views into the list.
class header_field {
 public:
  header_field(std::string_view field_name, std::string_view field_value) noexcept
      : name(field_name), value(field_value) {}
  std::string_view name;
  std::string_view value;
};

/// Fields of an HTTP head. All text lies in one string, so a head costs two allocations.
///
///     if (page.headers.get("content-type") == "text/html") show(page.body);
///     for (const auto field : page.headers) log(field.name, field.value);
///
/// @thread_safety  as a value
class TANDEM_IO_CURL_API header_list {
 public:
  class iterator {
   public:
    using value_type = header_field;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;
    iterator(const header_list& all, std::size_t at) noexcept : all_(&all), at_(at) {}
    header_field operator*() const noexcept { return (*all_)[at_]; }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    iterator operator++(int) noexcept {
      const iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const iterator&, const iterator&) noexcept = default;

   private:
    const header_list* all_ = nullptr;
    std::size_t at_ = 0;
  };

  header_list() noexcept = default;

  /// Behind those that are there, also if there is one of that name.
  void add(std::string_view name, std::string_view value);
  void clear() noexcept;

  /// The value of the first field of that name; empty if there is none.
  std::string_view get(std::string_view name) const noexcept { return find(name).value_or(""); }
  /// As get(), which tells an empty value from none.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept { return find(name).has_value(); }
  /// The values of all fields of that name, in their order.
  std::vector<std::string_view> all(std::string_view name) const;

  std::size_t size() const noexcept { return places_.size(); }
  bool empty() const noexcept { return places_.empty(); }
  /// pre: index < size()
  header_field operator[](std::size_t index) const noexcept;
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, size()}; }

  // Implementation
  /// The value of the last field goes on, behind a blank.
  void continue_last(std::string_view more);

 private:
  struct place {
    std::uint32_t begin;
    std::uint32_t name_size;
    std::uint32_t value_size;
  };
  std::string text_;  // names and values, one behind the other
  std::vector<place> places_;
};

}  // namespace tandem::inline v0::io::curl
