// queryable.cpp: hands statements to the session.
// SPDX-License-Identifier: MIT
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/queryable.hpp>
#include <utility>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres {

namespace {

task<copy_in> begin_copy_in(detail::session& of, std::uint64_t scope, std::string sql) {
  const std::uint64_t own = co_await of.begin_copy(scope, std::move(sql), true);
  co_return copy_in(of, own);
}

task<copy_out> begin_copy_out(detail::session& of, std::uint64_t scope, std::string sql) {
  const std::uint64_t own = co_await of.begin_copy(scope, std::move(sql), false);
  co_return copy_out(of, own);
}

task<void> deallocate_now(detail::session& of, std::uint64_t scope, std::string name) {
  const std::string sql = "deallocate \"" + name + "\"";
  (void)co_await of.execute(scope, sql);
}

}  // namespace

detail::session& queryable::open_session() const {
  if (session_ == nullptr)
    throw error(errc::closed, "postgres: a connection that was never opened");
  return *session_;
}

task<rows> queryable::ask(command what, parameters given, bool in_binary) {
  return open_session().query(scope_, std::move(what), std::move(given), in_binary);
}

task<std::vector<rows>> queryable::execute(std::string script) {
  return open_session().execute(scope_, std::move(script));
}

task<statement> queryable::prepare(std::string sql, std::string name) {
  return open_session().prepare(scope_, std::move(sql), std::move(name));
}

task<void> queryable::deallocate(statement prepared) {
  std::string name;
  for (const char each : prepared.name())
    name += each == '"' ? std::string("\"\"") : std::string(1, each);
  return deallocate_now(open_session(), scope_, std::move(name));
}

task<postgres::copy_in> queryable::copy_in(std::string sql) {
  return begin_copy_in(open_session(), scope_, std::move(sql));
}

task<postgres::copy_out> queryable::copy_out(std::string sql) {
  return begin_copy_out(open_session(), scope_, std::move(sql));
}

}  // namespace tandem::inline v0::io::postgres
