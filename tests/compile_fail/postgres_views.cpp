// postgres_views.cpp: what query<T...>() returns must not point into an answer that is gone.
// SPDX-License-Identifier: MIT
#include <optional>
#include <string>
#include <string_view>

#include <tandem/io/postgres.hpp>
#include <tandem/task.hpp>

namespace postgres = tandem::io::postgres;

tandem::task<void> ask(postgres::connection& c, postgres::pipeline& p) {
#ifdef TANDEM_CONTROL
  const auto names = co_await c.query<int, std::optional<std::string>>("select 1, 'a'");
  const postgres::rows kept = co_await p.query("select 'a'");
  for (const std::string_view name : kept.as<std::string_view>()) (void)name;  // points into `kept`
  (void)names;
#elif defined TANDEM_CASE_one
  (void)co_await c.query<int, std::string_view>("select 1, 'a'");
#elif defined TANDEM_CASE_maybe
  (void)co_await c.query<std::optional<std::string_view>>("select 'a'");
#else
  (void)co_await p.query<std::string_view>("select 'a'");
#endif
}
