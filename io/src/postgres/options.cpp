// options.cpp: the options' special members, which hold strings and functions.
// SPDX-License-Identifier: MIT
#include <tandem/io/postgres/options.hpp>

namespace tandem::inline v0::io::postgres {

connect_options::connect_options() = default;
connect_options::connect_options(const connect_options&) = default;
connect_options::connect_options(connect_options&&) noexcept = default;
connect_options& connect_options::operator=(const connect_options&) = default;
connect_options& connect_options::operator=(connect_options&&) noexcept = default;
connect_options::~connect_options() = default;

pool_options::pool_options() = default;
pool_options::pool_options(const pool_options&) = default;
pool_options::pool_options(pool_options&&) noexcept = default;
pool_options& pool_options::operator=(const pool_options&) = default;
pool_options& pool_options::operator=(pool_options&&) noexcept = default;
pool_options::~pool_options() = default;

}  // namespace tandem::inline v0::io::postgres
