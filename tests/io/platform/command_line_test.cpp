// command_line_test.cpp: what a program of Windows takes out of its command line is what it was to get.
// SPDX-License-Identifier: MIT
#include "platform/windows/command_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "platform/windows/wide_text.hpp"
// It needs that.
#include <shellapi.h>

namespace {

using namespace std::string_view_literals;
namespace platform = tandem::io::platform;

/// As CommandLineToArgvW() takes it apart, in UTF-8.
std::vector<std::string> taken_apart(const std::wstring& line) {
  int count = 0;
  wchar_t** const words = ::CommandLineToArgvW(line.c_str(), &count);
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back(platform::to_utf8(words[i]));
  ::LocalFree(words);
  return made;
}

std::wstring line_of(const std::vector<const char*>& arguments) {
  std::vector<const char*> with_end = arguments;
  with_end.push_back(nullptr);
  std::wstring made;
  EXPECT_TRUE(platform::to_command_line(with_end.data(), made));
  return made;
}

TEST(command_line, arguments_come_out_as_they_went_in) {
  const std::vector<const char*> hard{R"(C:\a folder\program)",
                                      "",
                                      "plain",
                                      "two words",
                                      "a\ttab",
                                      R"(a "quoted" word)",
                                      R"(")",
                                      R"("")",
                                      R"(ends with \)",
                                      R"(\)",
                                      R"(two \\)",
                                      R"(\")",
                                      R"(\\")",
                                      R"(a\\\"b c\\)",
                                      R"(folder\file name\\)",
                                      "a\nline",
                                      "%PATH%",
                                      "^&|<>",
                                      "caf\xC3\xA9 \xF0\x9F\x98\x80",
                                      "'",
                                      " "};
  EXPECT_EQ(taken_apart(line_of(hard)), std::vector<std::string>(hard.begin(), hard.end()));
  // Alone, so that no neighbour repairs it.
  for (const char* const each : hard) {
    EXPECT_EQ(taken_apart(line_of({"p", each})), (std::vector<std::string>{"p", each}));
  }
}

TEST(command_line, what_cannot_be_said_is_refused) {
  std::wstring line;
  const char* const quoted[] = {"a\"b", nullptr};
  EXPECT_FALSE(platform::to_command_line(quoted, line));
  const char* const no_text[] = {"a", "\xFF", nullptr};
  EXPECT_FALSE(platform::to_command_line(no_text, line));
}

TEST(command_line, an_environment_is_in_order_whatever_its_case_and_ends_with_a_zero) {
  std::wstring block;
  const char* const variables[] = {"b=2", "C=3=4", "A=1", "=C:=C:\\", nullptr};
  EXPECT_TRUE(platform::to_environment_block(variables, block));
  EXPECT_EQ(block, L"=C:=C:\\\0A=1\0b=2\0C=3=4\0\0"sv);
  const char* const none[] = {nullptr};
  EXPECT_TRUE(platform::to_environment_block(none, block));
  EXPECT_EQ(block, L"\0\0"sv);
}

TEST(command_line, batch_files_are_known_by_every_name_that_they_have) {
  for (const auto* const each : {L"a.bat", L"C:\\x\\A.BAT", L"a.cmd", L"a.cmd. .", L"a.bat "}) {
    EXPECT_TRUE(platform::is_batch_file(each));
  }
  for (const auto* const each : {L"a.exe", L"bat", L"a.bat.exe", L"", L"abat"}) {
    EXPECT_FALSE(platform::is_batch_file(each));
  }
}

}  // namespace
