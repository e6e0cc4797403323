// sqlite_store.cpp: keeps answers in a file of SQLite's, or in memory.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <mutex>
#include <tandem/io/sqlite.hpp>
#include <tuple>
#include <utility>

#include "open_store.hpp"

namespace service {

namespace {

namespace sqlite = tandem::io::sqlite;

constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS puzzle_answer ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT,"  // the newest has the largest
    " key TEXT NOT NULL UNIQUE,"
    " puzzle TEXT NOT NULL, title TEXT NOT NULL, result TEXT NOT NULL,"
    " words TEXT NOT NULL,"  // what a search looks at
    " moves INTEGER, nodes INTEGER NOT NULL, milliseconds REAL NOT NULL,"
    " solved_at INTEGER NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL)";
constexpr const char* find_sql =
    "SELECT key, puzzle, title, result, moves, nodes, milliseconds, solved_at, request, answer"
    " FROM puzzle_answer WHERE key = ?1";
constexpr const char* keep_sql =
    "INSERT OR REPLACE INTO puzzle_answer (key, puzzle, title, result, words, moves, nodes,"
    " milliseconds, solved_at, request, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
    " ?11)";
constexpr const char* trim_sql =
    "DELETE FROM puzzle_answer WHERE number <="
    " (SELECT number FROM puzzle_answer ORDER BY number DESC LIMIT 1 OFFSET ?1)";
constexpr const char* count_sql =
    "SELECT count(*) FROM puzzle_answer WHERE instr(words, ?1) AND instr(words, ?2)"
    " AND instr(words, ?3) AND instr(words, ?4) AND instr(words, ?5) AND instr(words, ?6)";
constexpr const char* list_sql =
    "SELECT key, puzzle, title, result, moves, nodes, milliseconds, solved_at"
    " FROM puzzle_answer WHERE instr(words, ?1) AND instr(words, ?2)"
    " AND instr(words, ?3) AND instr(words, ?4) AND instr(words, ?5) AND instr(words, ?6)"
    " ORDER BY number DESC LIMIT ?7 OFFSET ?8";

using integer = std::int64_t;
using optional_integer = std::optional<std::int64_t>;

template <class Row>
void read_entry(kept_entry& entry, Row&& row) {
  entry.key = std::move(std::get<0>(row));
  entry.puzzle = std::move(std::get<1>(row));
  entry.title = std::move(std::get<2>(row));
  entry.result = std::move(std::get<3>(row));
  if (const optional_integer moves = std::get<4>(row)) {
    entry.moves = static_cast<std::uint64_t>(*moves);
  }
  entry.nodes = static_cast<std::uint64_t>(std::get<5>(row));
  entry.milliseconds = std::get<6>(row);
  entry.solved_at = std::get<7>(row);
}

class sqlite_store : public answer_store {
 public:
  sqlite_store(std::string file, std::size_t limit)
      : file_(std::move(file)),
        limit_(static_cast<integer>(limit)),
        trim_after_(std::max(limit_ / 64, integer{1})) {}

  tandem::task<void> prepare() override;
  tandem::task<std::optional<kept_answer>> find(std::string key) override;
  tandem::task<void> keep(known_answer answer) override;
  tandem::task<kept_page> list(kept_search wanted) override;
  tandem::task<void> close() override;

  std::string describe() const override {
    return file_.empty() ? "SQLite in memory" : "SQLite in " + file_;
  }

 private:
  using database = std::shared_ptr<const sqlite::database>;

  /// Whoever uses it goes on with it, even if another one takes its place.
  database opened() const {
    const std::lock_guard guard(lock_);
    if (!database_) throw sqlite::error(sqlite::errc::closed, "it is not open");
    return database_;
  }

  const std::string file_;  // empty: in memory
  const integer limit_;
  const integer trim_after_;
  integer untrimmed_ = 0;  // kept since; the writer's
  mutable std::mutex lock_;
  database database_;  // under lock_
};

tandem::task<void> sqlite_store::prepare() {
  // A file is opened again: it may have been moved, or replaced. What is in memory would be lost.
  bool is_new = !file_.empty();
  {
    const std::lock_guard guard(lock_);
    is_new = is_new || !database_;
  }
  if (is_new) {
    sqlite::options options;
    options.synchronous = sqlite::sync_mode::normal;
    options.busy_timeout = std::chrono::milliseconds(2'000);
    std::string path = file_.empty() ? ":memory:" : file_;
    tandem::task<sqlite::database> opening = sqlite::database::open(std::move(path), options);
    const auto made = std::make_shared<const sqlite::database>(co_await std::move(opening));
    const std::lock_guard guard(lock_);
    database_ = made;
  }
  const database on = opened();
  const integer limit = limit_;
  const auto make_table = [limit](sqlite::session& session) {
    session.execute(schema);
    session.execute(trim_sql, limit);
  };
  co_await on->write(make_table);
}

tandem::task<std::optional<kept_answer>> sqlite_store::find(std::string key) {
  const database on = opened();
  auto finding =
      on->query_optional<std::string, std::string, std::string, std::string, optional_integer,
                         integer, double, integer, std::string, std::string>(find_sql, key);
  auto row = co_await std::move(finding);
  if (!row) co_return std::nullopt;
  kept_answer found;
  read_entry(found, *row);
  found.request = std::move(std::get<8>(*row));
  found.answer = std::move(std::get<9>(*row));
  co_return found;
}

tandem::task<void> sqlite_store::keep(known_answer answer) {
  const database on = opened();
  const bool trims = ++untrimmed_ >= trim_after_;
  const integer limit = limit_;
  const auto put = [answer, trims, limit](sqlite::session& session) {
    optional_integer moves;
    if (answer->moves) moves = static_cast<integer>(*answer->moves);
    session.execute(keep_sql, answer->key, answer->puzzle, answer->title, answer->result,
                    words_of(*answer), moves, static_cast<integer>(answer->nodes),
                    answer->milliseconds, answer->solved_at, answer->request, answer->answer);
    if (trims) session.execute(trim_sql, limit);
  };
  co_await on->write(put);
  if (trims) untrimmed_ = 0;
}

tandem::task<kept_page> sqlite_store::list(kept_search wanted) {
  const database on = opened();
  wanted.words.resize(kept_search::most_words);  // an empty one is in every text
  const auto look = [wanted](sqlite::session& session) {
    const auto& words = wanted.words;
    kept_page page;
    page.total = static_cast<std::uint64_t>(session.query_one<integer>(
        count_sql, words[0], words[1], words[2], words[3], words[4], words[5]));
    auto rows = session.query<std::string, std::string, std::string, std::string, optional_integer,
                              integer, double, integer>(
        list_sql, words[0], words[1], words[2], words[3], words[4], words[5],
        static_cast<integer>(wanted.count), static_cast<integer>(wanted.offset));
    for (auto& row : rows) read_entry(page.entries.emplace_back(), row);
    return page;
  };
  co_return co_await on->read(look);
}

tandem::task<void> sqlite_store::close() {
  database last;
  {
    const std::lock_guard guard(lock_);
    last = std::exchange(database_, nullptr);
  }
  if (last) co_await last->close();
}

}  // namespace

std::unique_ptr<answer_store> open_sqlite_store(const std::string& file, std::size_t limit) {
  return std::make_unique<sqlite_store>(file, limit);
}

}  // namespace service
