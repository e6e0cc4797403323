// sqlite.hpp: SQLite, awaited. Component tandem::io_sqlite.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/sqlite/argument.hpp>
#include <tandem/io/sqlite/calls.hpp>
#include <tandem/io/sqlite/database.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <tandem/io/sqlite/export.hpp>
#include <tandem/io/sqlite/options.hpp>
#include <tandem/io/sqlite/row.hpp>
#include <tandem/io/sqlite/session.hpp>
#include <tandem/io/sqlite/statement.hpp>
#include <tandem/io/sqlite/transaction.hpp>
#include <tandem/io/sqlite/value.hpp>
