// without_sqlite.cpp: instead of sqlite_store.cpp where tandem::io_sqlite is not built.
// SPDX-License-Identifier: MIT
#include "open_store.hpp"

namespace service {

std::unique_ptr<answer_store> open_sqlite_store(const std::string&, std::size_t) { return nullptr; }

}  // namespace service
