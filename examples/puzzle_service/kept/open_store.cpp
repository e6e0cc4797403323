// open_store.cpp: the store that the command line asks for.
// SPDX-License-Identifier: MIT
#include "open_store.hpp"

#include "memory_store.hpp"

namespace service {

std::unique_ptr<answer_store> open_store(const std::string& where, std::size_t limit,
                                         const std::function<void(const std::string&)>& log) {
  if (where == "none") return nullptr;
  const std::size_t in_memory = limit != 0 ? limit : 1'000;
  const std::size_t in_database = limit != 0 ? limit : 100'000;
  std::unique_ptr<answer_store> made;
  if (where == "memory" || where.empty()) {
    made = open_sqlite_store("", in_memory);
  } else if (where.starts_with("postgresql://") || where.starts_with("postgres://")) {
    made = open_postgres_store(where, in_database);
    if (!made) {
      log("built without tandem::io_postgres, which needs libpq (Debian: apt-get install "
          "libpq-dev, "
          "and build again): answers are kept in memory");
    }
  } else {
    made = open_sqlite_store(where, in_database);
    if (!made) {
      log("built without tandem::io_sqlite, which needs SQLite (Debian: apt-get install "
          "libsqlite3-dev, and build again): answers are kept in memory");
    }
  }
  if (!made) made = std::make_unique<memory_store>(in_memory);
  return made;
}

}  // namespace service
