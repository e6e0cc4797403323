// argument.cpp: what is given for a place, copied.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/io/sqlite/argument.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/value.hpp>

namespace tandem::inline v0::io::sqlite {

void detail::too_large(std::uint64_t number) {
  throw error(errc::wrong_type, "SQLite has no integer as large as " + std::to_string(number) +
                                    "; give it as text, or as a double");
}

const char* to_string(value_kind kind) noexcept {
  switch (kind) {
    case value_kind::null: return "NULL";
    case value_kind::integer: return "an integer";
    case value_kind::real: return "a real";
    case value_kind::text: return "text";
    case value_kind::blob: return "bytes";
  }
  return "unknown";
}

value::value(const argument& of) {
  switch (of.kind()) {
    case value_kind::null: return;
    case value_kind::integer: stored_ = of.integer(); return;
    case value_kind::real: stored_ = of.real(); return;
    case value_kind::text:
      stored_.emplace<std::string>(static_cast<const char*>(of.data()), of.size());
      return;
    case value_kind::blob: {
      const auto* const first = static_cast<const std::byte*>(of.data());
      stored_.emplace<bytes>(first, first + of.size());
      return;
    }
  }
}

}  // namespace tandem::inline v0::io::sqlite
