// options.hpp: how a database is opened.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem::inline v0::io::sqlite {

/// Where SQLite keeps what it needs to undo, or to finish, a transaction.
enum class journal_mode : std::uint8_t {
  wal,        ///< a log beside the file: who reads never waits for who writes, nor the reverse
  rollback,   ///< a copy of the old pages: one writer or many readers; for network file systems
  unchanged,  ///< as the file says
};

/// When a commit waits for the disk.
enum class sync_mode : std::uint8_t {
  off,     ///< never: a crash of the machine may damage the file
  normal,  ///< with a log: not at each commit, so a crash of the machine may undo the last ones
  full,    ///< at each commit
  extra,   ///< also for the folder, where the journal is a file that is deleted
};

/// Of database::open().
///
///     sqlite::options options;
///     options.synchronous = sqlite::sync_mode::normal;
///     options.readers = 4;
///     sqlite::database db = co_await sqlite::database::open("answers.db", options);
class options {
 public:
  options() noexcept = default;

  /// Connections for reading beside the one for writing; each is a thread at most while it reads.
  /// 0: all share one, as a database in memory always does.
  std::size_t readers = 2;
  /// How long a lock that another connection holds is waited for.
  std::chrono::milliseconds busy_timeout{5'000};
  bool read_only = false;
  /// Whether a file that is not there is made.
  bool create = true;
  journal_mode journal = journal_mode::wal;
  sync_mode synchronous = sync_mode::full;
  bool foreign_keys = true;
  /// Statements that each connection keeps prepared, those that were used last.
  std::size_t cached_statements = 64;
  /// SQL that each connection runs when it is opened: PRAGMA, ATTACH. Tables are made by write().
  std::string each_connection;
  /// Steps of SQLite's machine between two looks whether a stop came. A running statement hears of
  /// it at once in any case; this is for one that is about to begin.
  int steps_between_looks = 1'000;
};

}  // namespace tandem::inline v0::io::sqlite
