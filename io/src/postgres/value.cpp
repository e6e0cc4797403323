// value.cpp: columns as C++ values, from text and from binary form.
// SPDX-License-Identifier: MIT
#include <libpq-fe.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <system_error>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/value.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres::detail {

namespace {

/// Of pg_type: numbers that no server changes.
constexpr Oid oid_bool = 16, oid_bytea = 17, oid_char = 18, oid_name = 19, oid_int8 = 20,
              oid_int2 = 21, oid_int4 = 23, oid_text = 25, oid_oid = 26, oid_json = 114,
              oid_xml = 142, oid_float4 = 700, oid_float8 = 701, oid_unknown = 705,
              oid_bpchar = 1042, oid_varchar = 1043;

constexpr std::array<std::pair<Oid, const char*>, 26> type_names{{
    {oid_bool, "boolean"},    {oid_bytea, "bytea"},     {oid_char, "\"char\""},
    {oid_name, "name"},       {oid_int8, "bigint"},     {oid_int2, "smallint"},
    {oid_int4, "integer"},    {oid_text, "text"},       {oid_oid, "oid"},
    {oid_json, "json"},       {oid_xml, "xml"},         {oid_float4, "real"},
    {oid_float8, "double"},   {oid_unknown, "unknown"}, {oid_bpchar, "char(n)"},
    {oid_varchar, "varchar"}, {1082, "date"},           {1083, "time"},
    {1114, "timestamp"},      {1184, "timestamptz"},    {1186, "interval"},
    {1700, "numeric"},        {2950, "uuid"},           {3802, "jsonb"},
    {1007, "integer[]"},      {1009, "text[]"},
}};

std::string type_name(Oid type) {
  for (const auto& [number, name] : type_names) {
    if (number == type) return name;
  }
  return "type " + std::to_string(type);
}

std::string column_in_words(const cell& of) {
  const char* const name = PQfname(of.of(), of.column());
  return "column " + std::to_string(of.column()) + " \"" + (name != nullptr ? name : "") + "\" (" +
         type_name(PQftype(of.of(), of.column())) + ") of row " + std::to_string(of.row());
}

std::string_view raw(const cell& of) noexcept {
  return std::string_view(PQgetvalue(of.of(), of.row(), of.column()),
                          static_cast<std::size_t>(PQgetlength(of.of(), of.row(), of.column())));
}

bool is_binary(const cell& of) noexcept { return PQfformat(of.of(), of.column()) == 1; }
Oid type_of(const cell& of) noexcept { return PQftype(of.of(), of.column()); }

void check_not_null(const cell& of) {
  if (is_null(of)) throw error(errc::unexpected_null, "postgres: " + column_in_words(of));
}

[[noreturn]] void throw_wrong(const cell& of, const std::string& wanted) {
  std::string text = "postgres: " + column_in_words(of);
  if (is_binary(of)) {
    text += " is no " + wanted + " in binary form";
  } else {
    constexpr std::size_t shown = 40;
    const std::string_view value = raw(of);
    text += ": \"" + std::string(value.substr(0, shown)) + (value.size() > shown ? "..." : "") +
            "\" is no " + wanted;
  }
  throw error(errc::wrong_type, text);
}

/// In network order.
std::uint64_t big_endian(std::string_view from) noexcept {
  std::uint64_t value = 0;
  for (const char each : from) value = (value << 8) | static_cast<unsigned char>(each);
  return value;
}

/// @returns  false if it is no integer of the width of its type
bool binary_integer(const cell& of, std::int64_t& value) noexcept {
  const std::string_view from = raw(of);
  const std::uint64_t bits = big_endian(from);
  switch (type_of(of)) {
    case oid_int2: value = static_cast<std::int16_t>(bits); return from.size() == 2;
    case oid_int4: value = static_cast<std::int32_t>(bits); return from.size() == 4;
    case oid_int8: value = static_cast<std::int64_t>(bits); return from.size() == 8;
    case oid_oid: value = static_cast<std::int64_t>(bits); return from.size() == 4;
    default: return false;
  }
}

template <class Number>
bool whole_number(std::string_view from, Number& value) noexcept {
  const char* const last = from.data() + from.size();
  const auto [stopped, error] = std::from_chars(from.data(), last, value);
  return error == std::errc{} && stopped == last;
}

template <class Float>
Float read_floating(const cell& of, const char* wanted) {
  check_not_null(of);
  const std::string_view from = raw(of);
  if (is_binary(of)) {
    std::int64_t integer = 0;
    if (binary_integer(of, integer)) return static_cast<Float>(integer);
    if (type_of(of) == oid_float8 && from.size() == 8) {
      return static_cast<Float>(std::bit_cast<double>(big_endian(from)));
    }
    if (type_of(of) == oid_float4 && from.size() == 4) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(from)));
    }
    throw_wrong(of, wanted);
  }
  Float value = 0;
  // "Infinity", "-Infinity" and "NaN" are read, too.
  if (!whole_number(from, value)) throw_wrong(of, wanted);
  return value;
}

int hex_digit(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

bool is_null(const cell& from) noexcept {
  return PQgetisnull(from.of(), from.row(), from.column()) != 0;
}

std::int64_t read_signed(const cell& from, std::int64_t least, std::int64_t most) {
  check_not_null(from);
  std::int64_t value = 0;
  const bool is_integer =
      is_binary(from) ? binary_integer(from, value) : whole_number(raw(from), value);
  if (!is_integer || value < least || value > most) {
    throw_wrong(from, "integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::uint64_t read_unsigned(const cell& from, std::uint64_t most) {
  check_not_null(from);
  std::uint64_t value = 0;
  bool is_integer = false;
  if (is_binary(from)) {
    std::int64_t read = 0;
    is_integer = binary_integer(from, read) && read >= 0;
    value = static_cast<std::uint64_t>(read);
  } else {
    is_integer = whole_number(raw(from), value);
  }
  if (!is_integer || value > most) throw_wrong(from, "integer from 0 to " + std::to_string(most));
  return value;
}

double read_double(const cell& from) {
  return read_floating<double>(from, "floating-point number");
}
float read_float(const cell& from) { return read_floating<float>(from, "floating-point number"); }

bool read_bool(const cell& from) {
  check_not_null(from);
  const std::string_view value = raw(from);
  if (type_of(from) == oid_bool && value.size() == 1) {
    return is_binary(from) ? value[0] != '\0' : value[0] == 't';
  }
  if (!is_binary(from) && (value == "t" || value == "true" || value == "f" || value == "false")) {
    return value[0] == 't';
  }
  throw_wrong(from, "boolean");
}

std::string_view read_text(const cell& from) {
  check_not_null(from);
  if (is_binary(from)) {
    switch (type_of(from)) {
      case oid_text:
      case oid_varchar:
      case oid_bpchar:
      case oid_name:
      case oid_json:
      case oid_xml:
      case oid_char:
      case oid_unknown: break;
      default: throw_wrong(from, "text");
    }
  }
  return raw(from);
}

bytes read_bytes(const cell& from) {
  check_not_null(from);
  const std::string_view value = raw(from);
  if (is_binary(from)) {
    // Text, too: its bytes are what it is.
    if (type_of(from) != oid_bytea) (void)read_text(from);
    bytes all(value.size());
    if (!all.empty()) std::memcpy(all.data(), value.data(), value.size());
    return all;
  }
  if (type_of(from) != oid_bytea || !value.starts_with("\\x") || value.size() % 2 != 0) {
    throw_wrong(from, "bytea in hexadecimal form (bytea_output)");
  }
  bytes all;
  all.reserve(value.size() / 2);
  for (std::size_t i = 2; i < value.size(); i += 2) {
    const int high = hex_digit(value[i]);
    const int low = hex_digit(value[i + 1]);
    if (high < 0 || low < 0) throw_wrong(from, "bytea in hexadecimal form (bytea_output)");
    all.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return all;
}

}  // namespace tandem::inline v0::io::postgres::detail
