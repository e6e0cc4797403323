// connection.cpp: the handle of a session.
// SPDX-License-Identifier: MIT
#include <memory>
#include <tandem/io/postgres/connection.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <utility>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres {

namespace {

std::string quoted_name(const std::string& name) {
  std::string text = "\"";
  for (const char each : name) {
    if (each == '"') text += '"';
    text += each;
  }
  return text + "\"";
}

task<void> run_only(detail::session& of, std::string sql) {
  (void)co_await of.execute(0, std::move(sql));
}

}  // namespace

connection::connection(connection&& other) noexcept
    : queryable(std::exchange(other.session_, nullptr), 0) {}

connection& connection::operator=(connection&& other) noexcept {
  if (this != &other) {
    delete session_;
    session_ = std::exchange(other.session_, nullptr);
  }
  return *this;
}

connection::~connection() { delete session_; }

task<connection> connection::open(std::string conninfo, connect_options options) {
  auto made = std::make_unique<detail::session>(std::move(options));
  co_await made->connect(std::move(conninfo));
  co_return connection(made.release());
}

bool connection::is_usable() const noexcept { return session_ != nullptr && session_->is_open(); }

void connection::close() noexcept {
  if (session_ != nullptr) session_->close("it was closed");
}

task<void> connection::listen(std::string channel) {
  return run_only(open_session(), "listen " + quoted_name(channel));
}

task<void> connection::unlisten(std::string channel) {
  return run_only(open_session(), "unlisten " + quoted_name(channel));
}

task<notification> connection::next_notification() { return open_session().next_notification(); }

int connection::server_process() const noexcept {
  return is_usable() ? PQbackendPID(session_->handle()) : 0;
}

int connection::server_version() const noexcept {
  return is_usable() ? PQserverVersion(session_->handle()) : 0;
}

std::string connection::server_parameter(std::string_view name) const {
  if (!is_usable()) return {};
  const char* const value = PQparameterStatus(session_->handle(), std::string(name).c_str());
  return value != nullptr ? value : std::string();
}

bool connection::is_encrypted() const noexcept {
  return is_usable() && PQsslInUse(session_->handle()) != 0;
}

}  // namespace tandem::inline v0::io::postgres
