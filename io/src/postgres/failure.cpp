// failure.cpp: SQLSTATE to code, fields to words.
// SPDX-License-Identifier: MIT
#include "postgres/failure.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace tandem::inline v0::io::postgres::detail {

namespace {

using meaning = std::pair<std::string_view, errc>;

/// The first that begins the code counts.
constexpr std::array<meaning, 37> meanings{{
    {"08P01", errc::bad_statement},
    {"08", errc::connection_lost},
    {"0A", errc::not_supported},
    {"22", errc::bad_data},
    {"23502", errc::not_null_violation},
    {"23503", errc::foreign_key_violation},
    {"23505", errc::unique_violation},
    {"23514", errc::check_violation},
    {"23", errc::constraint_violation},
    {"25006", errc::read_only},
    {"25P02", errc::transaction_aborted},
    {"26", errc::bad_statement},
    {"28", errc::wrong_credentials},
    {"34", errc::bad_statement},
    {"3B", errc::bad_statement},
    {"3D000", errc::no_such_database},
    {"3F", errc::bad_statement},
    {"40001", errc::serialization_failure},
    {"40P01", errc::deadlock},
    {"40002", errc::constraint_violation},
    {"42501", errc::no_permission},
    {"42", errc::bad_statement},
    {"44", errc::check_violation},
    {"53300", errc::too_many_connections},
    {"53", errc::out_of_resources},
    {"54", errc::out_of_resources},
    {"55P03", errc::lock_not_available},
    {"55", errc::failed},
    {"57014", errc::statement_cancelled},
    {"57P01", errc::shutting_down},
    {"57P02", errc::shutting_down},
    {"57P03", errc::starting_up},
    {"57P04", errc::shutting_down},
    {"57P05", errc::shutting_down},
    {"21", errc::bad_statement},
    {"2F", errc::bad_statement},
    {"P0", errc::failed},
}};

std::string field(const PGresult* result, int code) {
  const char* const text = PQresultErrorField(result, code);
  return text != nullptr ? std::string(text) : std::string();
}

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

/// Line breaks and tabs become a space each; none at the end.
std::string in_one_line(std::string_view text) {
  std::string made;
  for (const char each : text) {
    const bool is_blank = each == '\n' || each == '\r' || each == '\t' || each == ' ';
    if (!is_blank) {
      made += each;
    } else if (!made.empty() && made.back() != ' ') {
      made += ' ';
    }
  }
  if (!made.empty() && made.back() == ' ') made.pop_back();
  return made;
}

}  // namespace

errc code_of(std::string_view sqlstate) noexcept {
  for (const auto& [begin, code] : meanings) {
    if (sqlstate.starts_with(begin)) return code;
  }
  return errc::failed;
}

server_words words_of(const PGresult* result) {
  server_words words;
  words.severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  words.sqlstate = field(result, PG_DIAG_SQLSTATE);
  words.message = field(result, PG_DIAG_MESSAGE_PRIMARY);
  words.detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  words.hint = field(result, PG_DIAG_MESSAGE_HINT);
  words.context = field(result, PG_DIAG_CONTEXT);
  words.schema = field(result, PG_DIAG_SCHEMA_NAME);
  words.table = field(result, PG_DIAG_TABLE_NAME);
  words.column = field(result, PG_DIAG_COLUMN_NAME);
  words.constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
  words.position = std::strtoul(field(result, PG_DIAG_STATEMENT_POSITION).c_str(), nullptr, 10);
  // What libpq says by itself has no fields.
  if (words.message.empty()) words.message = trimmed(PQresultErrorMessage(result));
  return words;
}

std::string text_of(const server_words& words) {
  std::string text;
  if (!words.sqlstate.empty()) text = words.severity + " " + words.sqlstate + ": ";
  text += words.message;
  if (words.position != 0) text += " (at character " + std::to_string(words.position) + ")";
  if (!words.detail.empty()) text += "; " + words.detail;
  if (!words.hint.empty()) text += "; hint: " + words.hint;
  return in_one_line(text);
}

std::string trimmed(const char* text) {
  std::string kept;
  std::string_view rest = text != nullptr ? text : "";
  while (!rest.empty()) {
    const std::size_t end = (std::min)(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix((std::min)(end + 1, rest.size()));
    if (line.starts_with("\tIs the server running")) continue;  // errc::cannot_connect asks that
    kept += line;
    kept += '\n';
  }
  return in_one_line(kept);
}

error failure_of(const PGresult* result) {
  server_words words = words_of(result);
  const errc code = code_of(words.sqlstate);
  std::string text = "postgres: " + text_of(words);
  if (contains(words.message, "multiple commands into a prepared statement")) {
    text += "; execute() takes a script of several";
  }
  return error(code, text, std::move(words));
}

error connect_failure(const std::string& text, const std::string& where) {
  // libpq does not give the SQLSTATE of a log-in that failed. The server's words are translated by
  // its lc_messages; in another language all of this is cannot_connect, with the words.
  errc code = errc::cannot_connect;
  if (contains(text, "password authentication failed") || contains(text, "no password supplied") ||
      contains(text, "no pg_hba.conf entry") || contains(text, "authentication failed") ||
      (contains(text, "role \"") && contains(text, "does not exist"))) {
    code = errc::wrong_credentials;
  } else if (contains(text, "database \"") && contains(text, "does not exist")) {
    code = errc::no_such_database;
  } else if (contains(text, "too many clients") || contains(text, "too many connections") ||
             contains(text, "remaining connection slots")) {
    code = errc::too_many_connections;
  } else if (contains(text, "the database system is starting up") ||
             contains(text, "the database system is not yet accepting") ||
             contains(text, "the database system is in recovery mode")) {
    code = errc::starting_up;
  } else if (contains(text, "the database system is shutting down")) {
    code = errc::shutting_down;
  }
  return error(code, "postgres::connection::open " + where + ": " + text);
}

}  // namespace tandem::inline v0::io::postgres::detail
