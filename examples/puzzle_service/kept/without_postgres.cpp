// without_postgres.cpp: instead of postgres_store.cpp where tandem::io_postgres is not built.
// SPDX-License-Identifier: MIT
#include "open_store.hpp"

namespace service {

std::unique_ptr<answer_store> open_postgres_store(const std::string&, std::size_t) {
  return nullptr;
}

}  // namespace service
