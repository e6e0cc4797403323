// failure.hpp: makes errors of what libpq says.
// SPDX-License-Identifier: MIT
#pragma once

#include <libpq-fe.h>

#include <string>
#include <string_view>
#include <tandem/io/postgres/errors.hpp>

namespace tandem::inline v0::io::postgres::detail {

/// What an SQLSTATE means. Empty: failed.
errc code_of(std::string_view sqlstate) noexcept;
/// All fields of an error or a notice.
server_words words_of(const PGresult* result);
/// "ERROR 23505: duplicate key ...; Key (id)=(1) already exists."
std::string text_of(const server_words& words);
/// libpq's text in one line, without what it asks: "Is the server running on that host ...?".
std::string trimmed(const char* text);

/// Of a statement. pre: it has failed
error failure_of(const PGresult* result);
/// Of a connection that does not come about. @param where  host, port, database, user
error connect_failure(const std::string& text, const std::string& where);

}  // namespace tandem::inline v0::io::postgres::detail
