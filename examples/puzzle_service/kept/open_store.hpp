// open_store.hpp: the store that the command line asks for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "answer_store.hpp"

namespace service {

/// @param where  "none"; "memory"; "postgresql://..." or "postgres://..."; else a file of SQLite's
/// @param limit  answers that it may have; 0: 1,000 in memory, else 100,000
/// @param log    is told if the service was built without what is needed: then answers are kept in
///               memory
/// @returns      null for "none". Nothing is opened yet: that is prepare()'s
std::unique_ptr<answer_store> open_store(const std::string& where, std::size_t limit,
                                         const std::function<void(const std::string&)>& log);

/// @param file   empty: in memory
/// @returns      null if the service was built without tandem::io_sqlite
std::unique_ptr<answer_store> open_sqlite_store(const std::string& file, std::size_t limit);
/// @returns      null if the service was built without tandem::io_postgres
std::unique_ptr<answer_store> open_postgres_store(const std::string& url, std::size_t limit);

}  // namespace service
