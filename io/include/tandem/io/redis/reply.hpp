// reply.hpp: what a Redis server has answered, and what that is in C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/config.hpp>
#include <tandem/io/redis/export.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tandem::inline v0::io::redis {

enum class reply_kind : std::uint8_t { nil, status, error, integer, string, array };

TANDEM_IO_REDIS_API const char* to_string(reply_kind kind) noexcept;

class reply;
/// The answers of a pipeline or transaction, in the order of its commands.
using replies = std::vector<reply>;

namespace detail {

/// How a reply becomes a T; one for each kind of types.
template <class T>
struct reply_reader;

}  // namespace detail

/// An answer: nothing, a text, a number, or a list of answers; or an error.
///
///     auto got = co_await client.command("MGET", "a", "b");
///     for (const reply& each : got.elements())
///       std::puts(each.is_nil() ? "none" : each.as<std::string>().c_str());
///
/// @thread_safety  as a value
class TANDEM_IO_REDIS_API reply {
 public:
  /// Nil.
  reply() noexcept = default;
  explicit reply(std::int64_t number) noexcept : kind_(reply_kind::integer), value_(number) {}
  reply(reply_kind kind, std::string text) noexcept : kind_(kind), value_(std::move(text)) {}
  explicit reply(std::vector<reply> elements) noexcept
      : kind_(reply_kind::array), value_(std::move(elements)) {}

  reply_kind kind() const noexcept { return kind_; }
  bool is_nil() const noexcept { return kind_ == reply_kind::nil; }
  bool is_error() const noexcept { return kind_ == reply_kind::error; }

  /// Of a string, a status or an error; else empty. It lives as long as the reply.
  std::string_view text() const noexcept;
  /// Of an array; else empty.
  std::span<const reply> elements() const noexcept;
  /// @throws  std::out_of_range
  const reply& operator[](std::size_t index) const;

  /// As a C++ value.
  ///
  ///     auto names = got.as<std::vector<std::string>>();
  ///
  /// @tparam T   std::string (a number is its digits), an integer or double (a text has to be one),
  ///             bool (a number other than 0; OK), std::vector<std::byte>, std::optional<T> (nil is
  ///             none), std::vector<T>, std::pair<A, B>, std::map<K, V> or std::unordered_map<K, V>
  ///             of an array of pairs; reply itself; void
  /// @throws     error: that of the server, if it is one; unexpected_reply, with what it is
  template <class T>
  T as() const& {
    check();
    if constexpr (!std::is_void_v<T>) return detail::reply_reader<T>::read(*this);
  }
  template <class T>
  T as() && {
    check();
    if constexpr (std::same_as<T, reply>) {
      return std::move(*this);
    } else if constexpr (std::same_as<T, std::string>) {
      return std::move(*this).take_text();
    } else if constexpr (std::same_as<T, std::vector<reply>>) {
      return std::move(*this).take_elements();
    } else if constexpr (!std::is_void_v<T>) {
      return detail::reply_reader<T>::read(*this);
    }
  }

  /// @throws  error: that of the server, if it is one
  void check() const {
    if (is_error()) [[unlikely]]
      throw_error();
  }

  /// For people, as redis-cli shows it, in one line.
  std::string to_string() const;

  friend bool operator==(const reply&, const reply&) = default;

  // Implementation
  reply& append(reply&& element);
  std::string take_text() &&;
  std::vector<reply> take_elements() &&;
  std::string read_text() const;
  std::int64_t read_signed() const;
  std::uint64_t read_unsigned() const;
  double read_double() const;
  bool read_bool() const;
  std::span<const reply> read_elements(const char* wanted) const;
  [[noreturn]] void throw_error() const;
  [[noreturn]] void throw_unexpected(const char* wanted) const;

 private:
  reply_kind kind_ = reply_kind::nil;
  std::variant<std::monostate, std::int64_t, std::string, std::vector<reply>> value_;
};

// Implementation
namespace detail {

template <class Map, class Key, class Value>
Map read_map(const reply& from) {
  const std::span<const reply> all = from.read_elements("an array of pairs");
  if (all.size() % 2 != 0) from.throw_unexpected("an array of pairs");
  Map made;
  for (std::size_t at = 0; at < all.size(); at += 2) {
    made.insert_or_assign(all[at].as<Key>(), all[at + 1].as<Value>());
  }
  return made;
}

template <>
struct reply_reader<reply> {
  static reply read(const reply& from) { return from; }
};
template <>
struct reply_reader<std::string> {
  static std::string read(const reply& from) { return from.read_text(); }
};
template <>
struct reply_reader<bool> {
  static bool read(const reply& from) { return from.read_bool(); }
};
template <std::integral Number>
  requires(!std::same_as<Number, bool>)
struct reply_reader<Number> {
  static Number read(const reply& from) {
    if constexpr (std::signed_integral<Number>) {
      const std::int64_t number = from.read_signed();
      if (!std::in_range<Number>(number)) from.throw_unexpected("a number of that size");
      return static_cast<Number>(number);
    } else {
      const std::uint64_t number = from.read_unsigned();
      if (!std::in_range<Number>(number)) from.throw_unexpected("a number of that size");
      return static_cast<Number>(number);
    }
  }
};
template <std::floating_point Number>
struct reply_reader<Number> {
  static Number read(const reply& from) { return static_cast<Number>(from.read_double()); }
};
template <class T>
struct reply_reader<std::optional<T>> {
  static std::optional<T> read(const reply& from) {
    if (from.is_nil()) return std::nullopt;
    return from.as<T>();
  }
};
template <class T>
struct reply_reader<std::vector<T>> {
  static std::vector<T> read(const reply& from) {
    std::vector<T> made;
    const std::span<const reply> all = from.read_elements("an array");
    made.reserve(all.size());
    for (const reply& each : all) made.push_back(each.as<T>());
    return made;
  }
};
/// As they are: an error among them is thrown by whatever reads it.
template <>
struct reply_reader<std::vector<reply>> {
  static std::vector<reply> read(const reply& from) {
    const std::span<const reply> all = from.read_elements("an array");
    return {all.begin(), all.end()};
  }
};
template <>
struct reply_reader<std::vector<std::byte>> {
  static std::vector<std::byte> read(const reply& from) {
    const std::string text = from.read_text();
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
};
template <class A, class B>
struct reply_reader<std::pair<A, B>> {
  static std::pair<A, B> read(const reply& from) {
    const std::span<const reply> all = from.read_elements("an array of two");
    if (all.size() != 2) from.throw_unexpected("an array of two");
    return {all[0].as<A>(), all[1].as<B>()};
  }
};
template <class K, class V>
struct reply_reader<std::map<K, V>> {
  static std::map<K, V> read(const reply& from) { return read_map<std::map<K, V>, K, V>(from); }
};
template <class K, class V>
struct reply_reader<std::unordered_map<K, V>> {
  static std::unordered_map<K, V> read(const reply& from) {
    return read_map<std::unordered_map<K, V>, K, V>(from);
  }
};

}  // namespace detail
}  // namespace tandem::inline v0::io::redis
