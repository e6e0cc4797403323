// session.cpp: statements of a call, by their text.
// SPDX-License-Identifier: MIT
#include <tandem/io/sqlite/session.hpp>

#include "sqlite/connection.hpp"

namespace tandem::inline v0::io::sqlite {

statement session::prepare(std::string_view sql) { return {*on_, on_->prepare(sql)}; }

void session::execute_script(std::string_view sql) { on_->run_script(sql); }

}  // namespace tandem::inline v0::io::sqlite
