// parameters.cpp: gathers the parameters of a statement in one block.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <string>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/value.hpp>

namespace tandem::inline v0::io::postgres {

parameters::parameters() noexcept = default;
parameters::parameters(parameters&&) noexcept = default;
parameters& parameters::operator=(parameters&&) noexcept = default;
parameters::~parameters() = default;

void parameters::add_null() { entries_.emplace_back(entry::kind::null, 0, 0); }

void parameters::append(const char* first, std::size_t size) {
  const std::size_t begin = room_.size();
  room_.resize(begin + size + 1);  // all at once; with the zero there is an address for none
  if (size != 0) std::memcpy(room_.data() + begin, first, size);
}

void parameters::add_text(std::string_view text) {
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    throw error(errc::bad_parameter, "postgres: $" + std::to_string(entries_.size() + 1) +
                                         " has a zero byte at " + std::to_string(zero) +
                                         ", which no text of PostgreSQL's can hold: send bytes");
  }
  entries_.emplace_back(entry::kind::text, room_.size(), text.size());
  append(text.data(), text.size());
}

void parameters::add_bytes(std::span<const std::byte> value) {
  entries_.emplace_back(entry::kind::binary, room_.size(), value.size());
  append(reinterpret_cast<const char*>(value.data()), value.size());  // NOLINT
  has_bytes_ = true;
}

}  // namespace tandem::inline v0::io::postgres
