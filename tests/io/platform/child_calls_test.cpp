// child_calls_test.cpp: descriptors that a child gives up where the kernel has no call for it.
// SPDX-License-Identifier: MIT
#include "platform/linux/child_calls.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <vector>

namespace {

namespace platform = tandem::io::platform;

bool is_kept(int descriptor) { return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0; }

/// Descriptors with these numbers, which are inherited across exec.
class inherited {
 public:
  explicit inherited(std::vector<int> numbers) : numbers_(std::move(numbers)) {
    for (const int each : numbers_) EXPECT_EQ(::dup2(0, each), each);
  }
  inherited(const inherited&) = delete;
  inherited& operator=(const inherited&) = delete;
  ~inherited() {
    for (const int each : numbers_) ::close(each);
  }

 private:
  std::vector<int> numbers_;
};

using give_up = void (*)(int, int) noexcept;

TEST(child_calls, all_descriptors_between_are_given_up_and_no_others_by_either_way) {
  for (const give_up by : {give_up(platform::give_up_between), give_up(platform::give_up_listed)}) {
    // More than one call lists.
    std::vector<int> numbers;
    for (int each = 300; each < 400; ++each) numbers.push_back(each);
    const inherited all(numbers);
    by(310, 389);
    for (const int each : numbers) EXPECT_EQ(is_kept(each), each < 310 || each > 389) << each;
    by(395, INT_MAX);
    for (const int each : {394, 395, 399}) EXPECT_EQ(is_kept(each), each < 395) << each;
  }
}

TEST(child_calls, a_name_that_is_no_number_is_none) {
  EXPECT_EQ(platform::number_of("120"), 120);
  for (const char* const each : {"", ".", "..", "1a", "-1"}) {
    EXPECT_EQ(platform::number_of(each), -1) << each;
  }
}

}  // namespace
