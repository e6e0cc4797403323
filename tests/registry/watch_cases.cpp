// watch_cases.cpp: the rows of watches.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <tandem/io/file_watch.hpp>

#include "io/support/file_support.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// Each completion makes a directory: none is lost.
class watch_case : public io_case {
 public:
  static constexpr std::string_view name = "file_watch::next";
  using awaiters = covers<io::file_change_awaiter>;
  static constexpr row cells = every_column.without(
      column::exception, "it reads a descriptor of the process's own, which tells no error");

  task<void> begin() {
    watch_.emplace();
    (void)co_await watch_->add(folder_.path(), io::watch_for::names);
  }
  auto make() { return watch_->next(); }
  void complete() { std::filesystem::create_directory(folder_ / std::to_string(++made_)); }
  ended took(const io::file_change& change) {
    EXPECT_EQ(change.kind, io::change_kind::created);
    EXPECT_EQ(change.name, std::to_string(++told_));
    return ended::returned;
  }
  task<void> end() {
    while (told_ < made_) {
      const io::file_change change = co_await watch_->next();
      (void)took(change);
    }
    watch_.reset();
  }

 private:
  const test::temporary_folder folder_;
  std::optional<io::file_watch> watch_;
  std::atomic<int> made_{0};
  std::atomic<int> told_{0};
};

using watch_rows = ::testing::Types<watch_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(watches, awaitable, watch_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
