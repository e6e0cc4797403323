// postgres_store.cpp: keeps answers in a PostgreSQL database.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <tandem/io/postgres.hpp>
#include <utility>

#include "open_store.hpp"

namespace service {

namespace {

namespace postgres = tandem::io::postgres;

constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS puzzle_answer ("
    " number bigserial PRIMARY KEY,"  // the newest has the largest
    " key text NOT NULL UNIQUE,"
    " puzzle text NOT NULL, title text NOT NULL, result text NOT NULL,"
    " words text NOT NULL,"  // what a search looks at
    " moves bigint, nodes bigint NOT NULL, milliseconds double precision NOT NULL,"
    " solved_at bigint NOT NULL, request text NOT NULL, answer text NOT NULL)";
constexpr const char* find_sql =
    "SELECT key, puzzle, title, result, moves, nodes, milliseconds, solved_at, request, answer"
    " FROM puzzle_answer WHERE key = $1";
constexpr const char* keep_sql =
    "INSERT INTO puzzle_answer (key, puzzle, title, result, words, moves, nodes, milliseconds,"
    " solved_at, request, answer) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    " ON CONFLICT (key) DO UPDATE SET number = excluded.number, puzzle = excluded.puzzle,"
    " title = excluded.title, result = excluded.result, words = excluded.words,"
    " moves = excluded.moves, nodes = excluded.nodes, milliseconds = excluded.milliseconds,"
    " solved_at = excluded.solved_at, request = excluded.request, answer = excluded.answer";
constexpr const char* trim_sql =
    "DELETE FROM puzzle_answer WHERE number <="
    " (SELECT number FROM puzzle_answer ORDER BY number DESC LIMIT 1 OFFSET $1)";
constexpr const char* count_sql =
    "SELECT count(*) FROM puzzle_answer WHERE strpos(words, $1) > 0 AND strpos(words, $2) > 0"
    " AND strpos(words, $3) > 0 AND strpos(words, $4) > 0 AND strpos(words, $5) > 0"
    " AND strpos(words, $6) > 0";
constexpr const char* list_sql =
    "SELECT key, puzzle, title, result, moves, nodes, milliseconds, solved_at"
    " FROM puzzle_answer WHERE strpos(words, $1) > 0 AND strpos(words, $2) > 0"
    " AND strpos(words, $3) > 0 AND strpos(words, $4) > 0 AND strpos(words, $5) > 0"
    " AND strpos(words, $6) > 0 ORDER BY number DESC LIMIT $7 OFFSET $8";

using integer = std::int64_t;

void read_entry(kept_entry& entry, const postgres::row& row) {
  entry.key = row.get<std::string>(0);
  entry.puzzle = row.get<std::string>(1);
  entry.title = row.get<std::string>(2);
  entry.result = row.get<std::string>(3);
  if (const auto moves = row.get<std::optional<integer>>(4)) {
    entry.moves = static_cast<std::uint64_t>(*moves);
  }
  entry.nodes = static_cast<std::uint64_t>(row.get<integer>(5));
  entry.milliseconds = row.get<double>(6);
  entry.solved_at = row.get<integer>(7);
}

/// Soon said to be away, for nobody waits for it: the keeper tries again.
postgres::pool_options impatient() {
  using namespace std::chrono_literals;
  postgres::pool_options options;
  options.max_connections = 5;  // the keeper's clerks and its writer
  options.acquire_limit = 2000ms;
  options.check_limit = 1000ms;
  options.connections.connect_limit = 2000ms;
  options.connections.cancel_limit = 500ms;
  options.connections.statement_cache = 16;
  return options;
}

class postgres_store : public answer_store {
 public:
  postgres_store(const std::string& url, std::size_t limit)
      : url_(url),
        pool_(url, impatient()),
        limit_(static_cast<integer>(limit)),
        trim_after_(std::max(limit_ / 64, integer{1})) {}

  tandem::task<void> prepare() override;
  tandem::task<std::optional<kept_answer>> find(std::string key) override;
  tandem::task<void> keep(known_answer answer) override;
  tandem::task<kept_page> list(kept_search wanted) override;
  tandem::task<void> close() override;

  /// Host, port and database.
  std::string describe() const override {
    std::string text = url_.substr(url_.find("://") + 3);
    text = text.substr(0, text.find('?'));
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::size_t at = text.rfind('@', slash);
    return "postgresql://" + (at == std::string::npos ? text : text.substr(at + 1));
  }

 private:
  const std::string url_;
  postgres::pool pool_;
  const integer limit_;
  const integer trim_after_;
  integer untrimmed_ = 0;  // kept since; the writer's
};

tandem::task<void> postgres_store::prepare() {
  tandem::task<postgres::rows> making = pool_.query(schema);
  (void)co_await std::move(making);
  tandem::task<postgres::rows> trimming = pool_.query(trim_sql, limit_);
  (void)co_await std::move(trimming);
}

tandem::task<std::optional<kept_answer>> postgres_store::find(std::string key) {
  tandem::task<postgres::rows> finding = pool_.query(find_sql, key);
  const postgres::rows rows = co_await std::move(finding);
  if (rows.empty()) co_return std::nullopt;
  kept_answer found;
  read_entry(found, rows[0]);
  found.request = rows[0].get<std::string>(8);
  found.answer = rows[0].get<std::string>(9);
  co_return found;
}

tandem::task<void> postgres_store::keep(known_answer answer) {
  std::optional<integer> moves;
  if (answer->moves) moves = static_cast<integer>(*answer->moves);
  tandem::task<postgres::rows> keeping =
      pool_.query(keep_sql, answer->key, answer->puzzle, answer->title, answer->result,
                  words_of(*answer), moves, static_cast<integer>(answer->nodes),
                  answer->milliseconds, answer->solved_at, answer->request, answer->answer);
  (void)co_await std::move(keeping);
  if (++untrimmed_ < trim_after_) co_return;
  tandem::task<postgres::rows> trimming = pool_.query(trim_sql, limit_);
  (void)co_await std::move(trimming);
  untrimmed_ = 0;
}

tandem::task<kept_page> postgres_store::list(kept_search wanted) {
  wanted.words.resize(kept_search::most_words);  // an empty one is in every text
  const auto& words = wanted.words;
  kept_page page;
  tandem::task<std::vector<integer>> counting =
      pool_.query<integer>(count_sql, words[0], words[1], words[2], words[3], words[4], words[5]);
  const std::vector<integer> total = co_await std::move(counting);
  page.total = static_cast<std::uint64_t>(total.at(0));
  tandem::task<postgres::rows> listing =
      pool_.query(list_sql, words[0], words[1], words[2], words[3], words[4], words[5],
                  static_cast<integer>(wanted.count), static_cast<integer>(wanted.offset));
  const postgres::rows rows = co_await std::move(listing);
  for (const postgres::row each : rows) read_entry(page.entries.emplace_back(), each);
  co_return page;
}

tandem::task<void> postgres_store::close() {
  pool_.close();
  co_return;
}

}  // namespace

std::unique_ptr<answer_store> open_postgres_store(const std::string& url, std::size_t limit) {
  return std::make_unique<postgres_store>(url, limit);
}

}  // namespace service
