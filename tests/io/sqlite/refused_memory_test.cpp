// refused_memory_test.cpp: whatever allocation is refused, SQLite's too: an exception says so, and the file is whole.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/run.hpp>

#include "io/sqlite/sqlite_support.hpp"
#include "refusals.hpp"

namespace {

using tandem::task;

namespace sqlite = tandem::io::sqlite;

task<void> use(std::string path, int& told) {
  const sqlite::database db = co_await sqlite::database::open(path);
  co_await db.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)");
  co_await db.execute("INSERT INTO t VALUES (?)", 1);
  ++told;
  const auto body = [](sqlite::transaction& tx) -> task<void> {
    co_await tx.execute("INSERT INTO t VALUES (?)", 2);
    (void)co_await tx.query<int>("SELECT n FROM t ORDER BY n");
  };
  co_await db.with_transaction(body);
  ++told;
  (void)co_await db.query<int>("SELECT n FROM t ORDER BY n");
  co_await db.close();
}

/// Of how many rows of that number the file knows, by SQLite's own words.
int stored(const std::string& path, int number) {
  sqlite3* on = nullptr;
  sqlite3_stmt* count = nullptr;
  int found = 0;
  sqlite3_open(path.c_str(), &on);
  if (sqlite3_prepare_v2(on, "SELECT count(*) FROM t WHERE n = ?", -1, &count, nullptr) ==
      SQLITE_OK) {
    sqlite3_bind_int(count, 1, number);
    sqlite3_step(count);
    found = sqlite3_column_int(count, 0);
  }
  sqlite3_finalize(count);
  sqlite3_close(on);
  return found;
}

/// SQLite says "out of memory" of most refusals, and takes the others for a file system that is broken.
bool is_expected(const std::error_code& code) {
  return code == sqlite::errc::cannot_open || code == sqlite::errc::io_error ||
         code == sqlite::errc::failed || code == sqlite::errc::bad_option;
}

TEST(sqlite_refused_memory, refused_allocation_is_an_exception_and_what_was_told_is_stored) {
  const tandem::test::temporary_folder folder(tandem::test::temporary_folder::in_memory());
  const std::string path = folder / "law.db";
  tandem::test::for_each_refusal(tandem::test::allocations, tandem::test::asker::anyone(), [&] {
    {
      const tandem::test::granted free;
      for (const char* const end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    }
    int told = 0;
    const auto look = [&] {
      const tandem::test::granted free;
      EXPECT_GE(stored(path, 1), told >= 1 ? 1 : 0);
      EXPECT_GE(stored(path, 2), told >= 2 ? 1 : 0);
    };
    try {
      tandem::run(use(path, told));
    } catch (const sqlite::error& failure) {
      const tandem::test::granted free;
      EXPECT_TRUE(is_expected(failure.code())) << failure.what();
      look();
      return;
    } catch (...) {
      look();
      throw;
    }
    look();
  });
}

}  // namespace
