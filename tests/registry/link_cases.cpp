// link_cases.cpp: the row of symbolic links.
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <string>
#include <tandem/io/file_operations.hpp>

#include "io/support/file_support.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

class read_link_case : public io_case {
 public:
  static constexpr std::string_view name = "read_link";
  using awaiters = covers<io::read_link_awaiter>;
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  task<void> begin() {
    std::filesystem::create_symlink("where to", folder_ / "link");
    co_return;
  }
  auto make() { return io::read_link(fails_ ? folder_ / "none" : folder_ / "link"); }
  ended took(const std::string& text) {
    EXPECT_EQ(text, "where to");
    return ended::returned;
  }

 private:
  const test::temporary_folder folder_;
};

using link_rows = ::testing::Types<read_link_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(links, awaitable, link_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
