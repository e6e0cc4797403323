// direct_file_test.cpp: a direct transfer that is not aligned, where the system tells what is.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/aligned_buffer.hpp>
#include <tandem/io/file.hpp>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::file;
using tandem::io::open_mode;
using tandem::io::open_options;

task<std::string> text_of_failure(file& from, std::span<std::byte> to, std::uint64_t offset) {
  try {
    (void)co_await from.read_at(to, offset);
  } catch (const std::system_error& failure) {
    co_return failure.what();
  }
  co_return "none";
}

TEST(file, a_direct_transfer_that_is_not_aligned_is_refused_and_the_text_says_how_it_has_to_be) {
  const tandem::test::temporary_folder folder;
  tandem::test::put(folder / "f", tandem::test::pattern(1 << 16, 5));
  tandem::test::on_every_home([&]() -> task<void> {
    open_options direct(open_mode::read);
    direct.direct = true;
    auto opened = co_await tandem::as_result(file::open(folder / "f", direct));
    if (opened.error() == std::errc::invalid_argument) {
      std::printf("not here: %s has no direct I/O\n", folder.path().c_str());
      co_return;
    }
    file source = std::move(opened).value();
    const std::size_t unit = source.direct_io_alignment();
    tandem::io::aligned_buffer got(unit, unit);
    EXPECT_EQ((co_await tandem::as_result(source.read_at(got.bytes(), 1))).error(),
              std::errc::invalid_argument);
    EXPECT_EQ(co_await text_of_failure(source, got.bytes(), 1),
              "file::read_at \"" + folder / "f" +
                  "\" at offset 1 (direct: buffer, offset and size have to be multiples of " +
                  std::to_string(unit) + "): Invalid argument");
  });
}

TEST(file, direct_where_the_file_system_has_none_is_said_to_be_what_was_refused) {
  const std::string path = "/proc/self/status";
  tandem::test::on_every_home([&]() -> task<void> {
    open_options direct(open_mode::read);
    direct.direct = true;
    EXPECT_EQ(co_await tandem::test::failure_of(file::open(path, direct)),
              "file::open \"/proc/self/status\" (direct: its file system may have no direct "
              "transfers): Invalid argument");
  });
}

}  // namespace
