// postgres.hpp: PostgreSQL, by libpq, awaited. Component tandem::io_postgres.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/postgres/connection.hpp>
#include <tandem/io/postgres/copy.hpp>
#include <tandem/io/postgres/errors.hpp>
#include <tandem/io/postgres/export.hpp>
#include <tandem/io/postgres/notification.hpp>
#include <tandem/io/postgres/options.hpp>
#include <tandem/io/postgres/pipeline.hpp>
#include <tandem/io/postgres/pool.hpp>
#include <tandem/io/postgres/queryable.hpp>
#include <tandem/io/postgres/rows.hpp>
#include <tandem/io/postgres/statement.hpp>
#include <tandem/io/postgres/transaction.hpp>
#include <tandem/io/postgres/value.hpp>
