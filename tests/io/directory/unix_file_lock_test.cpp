// unix_file_lock_test.cpp: a lock needs a file that is open for what its mode is about.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_lock.hpp>

#include "io/directory/lock_refusal.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::lock_file;
using tandem::io::lock_mode;
using tandem::io::open_mode;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::refusal_of;
using tandem::test::starts_with;
using tandem::test::temporary_folder;

TEST(file_lock, a_file_has_to_be_open_for_what_the_mode_needs) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file read = co_await file::open(folder / "f", open_mode::read);
    file written = co_await file::open(folder / "f", open_mode::write);
    const std::string name = " \"" + (folder / "f") + "\" (";
    EXPECT_EQ((co_await as_result(lock_file(read))).error(), std::errc::bad_file_descriptor);
    EXPECT_TRUE(starts_with(co_await refusal_of(lock_file(read)),
                            "lock_file" + name +
                                "an exclusive lock needs a file that is open for "
                                "writing)"));
    EXPECT_EQ((co_await as_result(lock_file(written, lock_mode::shared))).error(),
              std::errc::bad_file_descriptor);
    EXPECT_TRUE(starts_with(co_await refusal_of(lock_file(written, lock_mode::shared)),
                            "lock_file" + name +
                                "a shared lock needs a file that is open for "
                                "reading)"));
  });
}

}  // namespace
