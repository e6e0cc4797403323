// sqlite_support.hpp: a runtime, and a database in a folder that is gone after the test.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/sqlite.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

/// In memory, where there is such a folder: no law here is about how fast a disk is.
class database_room {
 public:
  database_room() : folder(temporary_folder::in_memory()), path(folder / "law.db") {}

  /// Runs `body(db)`, and closes.
  template <class Body>
  void run(Body body, io::sqlite::options options = {}) {
    runtime.run(opened(body, std::move(options)));
  }

  test_runtime runtime;
  const temporary_folder folder;
  const std::string path;

 private:
  template <class Body>
  task<void> opened(Body& body, io::sqlite::options options) {
    const io::sqlite::database db = co_await io::sqlite::database::open(path, std::move(options));
    co_await body(db);
    co_await db.close();
  }
};

/// g++ 12 takes no braced list in a coroutine.
template <class T, class... Values>
std::vector<T> listed(Values... values) {
  std::vector<T> all;
  (all.emplace_back(values), ...);
  return all;
}

/// That it fails so, and says that.
template <class Call>
task<void> fails(Call call, io::sqlite::errc code, std::string_view words = "") {
  const auto ended = co_await as_result(std::move(call));
  EXPECT_EQ(ended.error(), make_error_code(code)) << ended.error().message();
  if (ended.has_value()) co_return;
  try {
    std::rethrow_exception(ended.exception());
  } catch (const io::sqlite::error& failure) {
    EXPECT_NE(std::string_view(failure.what()).find(words), std::string_view::npos)
        << failure.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << "another exception: " << other.what();
  }
}

}  // namespace tandem::test
