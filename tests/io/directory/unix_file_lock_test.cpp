// unix_file_lock_test.cpp: a lock needs a file that is open for what its mode is about.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_lock.hpp>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "refusal_text.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::lock_file;
using tandem::io::lock_mode;
using tandem::io::open_mode;
using tandem::test::bytes_of;
using tandem::test::has;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::refusal_of;
using tandem::test::temporary_folder;

TEST(file_lock, a_file_has_to_be_open_for_what_the_mode_needs) {
  const temporary_folder folder;
  put(folder / "f", bytes_of("contents"));
  on_every_home([&]() -> task<void> {
    file read = co_await file::open(folder / "f", open_mode::read);
    file written = co_await file::open(folder / "f", open_mode::write);
    const std::string name = "lock_file \"" + (folder / "f") + "\" (";
    auto exclusive = co_await as_result(lock_file(read));
    EXPECT_EQ(exclusive.error(), std::errc::bad_file_descriptor);
    EXPECT_TRUE(has(refusal_of<std::system_error>([&] { (void)exclusive.value(); }),
                    name + "an exclusive lock needs a file that is open for writing)"));
    auto shared = co_await as_result(lock_file(written, lock_mode::shared));
    EXPECT_EQ(shared.error(), std::errc::bad_file_descriptor);
    EXPECT_TRUE(has(refusal_of<std::system_error>([&] { (void)shared.value(); }),
                    name + "a shared lock needs a file that is open for reading)"));
  });
}

}  // namespace
