// file_cases.cpp: the rows of files.
// SPDX-License-Identifier: MIT
//
// Nobody completes an operation on a file from outside: it takes its time, which may be none.
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <tandem/io/copy.hpp>
#include <tandem/io/detail/copy_awaiters.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/stop.hpp>
#include <vector>

#include "io/support/file_support.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

using io::file;

/// A file with known contents; one that fails is not open.
class file_case : public io_case {
 public:
  static constexpr bool self_completing = true;
  // A stop before the call is seen by it; one that comes later finds most of them done.
  static constexpr on_stop during = on_stop::may_end;

  task<void> begin() {
    io::open_options options;
    options.mode = io::open_mode::read_write;
    options.create = true;
    file_ = co_await file::open(path(), options);
    co_await file_.write_all_at(std::as_bytes(std::span(text_)), 0);
  }
  task<void> end() {
    file_.close();
    co_return;
  }

 protected:
  /// One for all cases, in a folder that goes with the process: they write the same into it.
  static std::string path() { return shared() / "f"; }
  static std::string missing() { return shared() / "none/f"; }
  file& used() { return fails_ ? closed_ : file_; }
  void check(std::string_view got) const { EXPECT_EQ(got, text_); }

  std::string text_ = std::string(10'000, 't');
  file file_;
  file closed_;

 private:
  static const test::temporary_folder& shared() {
    static const test::temporary_folder made;
    return made;
  }
};

class open_case : public file_case {
 public:
  static constexpr std::string_view name = "file::open";
  using awaiters = covers<io::file_open_awaiter>;

  auto make() { return file::open(fails_ ? missing() : path()); }
  ended took(const file& opened) {
    EXPECT_TRUE(opened.is_open());
    return ended::returned;
  }
};

class read_at_case : public file_case {
 public:
  static constexpr std::string_view name = "file::read_at";
  using awaiters = covers<io::file_transfer_awaiter>;

  auto make() { return used().read_at(std::as_writable_bytes(std::span(room_)), 0); }
  ended took(std::size_t bytes) {
    check(std::string_view(room_).substr(0, bytes));
    return ended::returned;
  }

 private:
  std::string room_ = std::string(20'000, ' ');
};

class read_list_at_case : public file_case {
 public:
  static constexpr std::string_view name = "file::read_at of a list";
  using awaiters = covers<io::vectored_file_transfer_awaiter>;

  auto make() { return used().read_at(list_, 0); }
  void set_span(std::chrono::microseconds span) { limited_ = span > limit; }
  /// A stop gives back what was read before it: where each buffer is a call, some of them.
  ended took(std::size_t bytes) {
    if (stop_requested() || limited_) {
      EXPECT_GT(bytes, 0u);
      EXPECT_LE(bytes, text_.size());
    } else {
      EXPECT_EQ(bytes, text_.size());
    }
    return ended::returned;
  }

 private:
  bool limited_ = false;
  std::vector<std::byte> room_ = std::vector<std::byte>(1000);
  std::vector<std::span<std::byte>> list_ =
      std::vector<std::span<std::byte>>(40, std::span<std::byte>(room_));
};

class write_all_at_case : public file_case {
 public:
  static constexpr std::string_view name = "file::write_all_at";
  using awaiters = covers<io::file_transfer_all_awaiter>;

  auto make() { return used().write_all_at(std::as_bytes(std::span(text_)), 0); }
  using case_base::took;
};

class write_list_at_case : public file_case {
 public:
  static constexpr std::string_view name = "file::write_all_at of a list";
  using awaiters = covers<io::vectored_file_transfer_all_awaiter>;

  auto make() { return used().write_all_at(list_, 0); }
  using case_base::took;

 private:
  std::vector<std::span<const std::byte>> list_ =
      std::vector<std::span<const std::byte>>(20, std::as_bytes(std::span(text_)).first(500));
};

class truncate_case : public file_case {
 public:
  static constexpr std::string_view name = "file::truncate";
  using awaiters = covers<io::file_command_awaiter>;

  auto make() { return used().truncate(text_.size()); }
  using case_base::took;
};

class status_case : public file_case {
 public:
  static constexpr std::string_view name = "file::status";
  using awaiters = covers<io::file_status_awaiter>;

  auto make() { return used().status(); }
  ended took(const io::file_status& found) {
    EXPECT_EQ(found.size, text_.size());
    return ended::returned;
  }
};

class read_file_case : public file_case {
 public:
  static constexpr std::string_view name = "read_file";

  auto make() { return io::read_file(fails_ ? missing() : path()); }
  ended took(const std::string& got) {
    check(got);
    return ended::returned;
  }
};

class read_file_bytes_case : public file_case {
 public:
  static constexpr std::string_view name = "read_file_bytes";

  auto make() { return io::read_file_bytes(fails_ ? missing() : path()); }
  ended took(const std::vector<std::byte>& got) {
    EXPECT_EQ(got.size(), text_.size());
    return ended::returned;
  }
};

class write_file_case : public file_case {
 public:
  static constexpr std::string_view name = "write_file";

  auto make() { return io::write_file(fails_ ? missing() : path(), text_); }
  using case_base::took;
};

class copy_file_case : public file_case {
 public:
  static constexpr std::string_view name = "copy of a file";
  using awaiters = covers<io::detail::copy_range_awaiter>;

  task<void> begin() {
    co_await file_case::begin();
    io::open_options options;
    options.mode = io::open_mode::read_write;
    options.create = true;
    copy_ = co_await file::open(path() + "-copy", options);
  }
  auto make() { return io::copy(used(), copy_); }
  ended took(std::uint64_t bytes) {
    EXPECT_EQ(bytes, text_.size());
    return ended::returned;
  }
  task<void> end() {
    copy_.close();
    co_await file_case::end();
  }

 private:
  file copy_;
};

using file_rows = ::testing::Types<open_case, read_at_case, read_list_at_case, write_all_at_case,
                                   write_list_at_case, truncate_case, status_case, read_file_case,
                                   read_file_bytes_case, write_file_case, copy_file_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(files, awaitable, file_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
