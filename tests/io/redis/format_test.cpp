// format_test.cpp: commands as bytes, beside those of hiredis.
// SPDX-License-Identifier: MIT
#include <hiredis/hiredis.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "io/redis/redis_support.hpp"
#include "seeded.hpp"

namespace tandem::test {
namespace {

std::string by_hiredis(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& each : words) {
    texts.push_back(each.data());
    sizes.push_back(each.size());
  }
  char* made = nullptr;
  const int size =
      redisFormatCommandArgv(&made, static_cast<int>(words.size()), texts.data(), sizes.data());
  std::string bytes(made, static_cast<std::size_t>(size));
  redisFreeCommand(made);
  return bytes;
}

TEST(redis_format, commands_are_the_bytes_that_hiredis_makes_of_them) {
  std::mt19937_64 random(stress_seed());
  redis::batch all;
  std::string expected;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> words(1 + random() % 40);
    for (std::string& each : words) {
      each.resize(random() % (round % 10 == 0 ? 3000 : 30));
      for (char& letter : each) letter = static_cast<char>(random());
    }
    words.front() = "ECHO";
    std::vector<redis::argument> given(words.begin(), words.end());
    all.add_words(given);
    expected += by_hiredis(words);
    EXPECT_EQ(all.bytes().size(), expected.size());
  }
  EXPECT_TRUE(all.bytes() == expected);
  EXPECT_EQ(all.size(), 300U);
  all.clear();
  EXPECT_TRUE(all.empty());
  all.add("SET", "key", -7, 0.5, "");
  EXPECT_EQ(all.bytes(), by_hiredis({"SET", "key", "-7", "0.5", ""}));
}

}  // namespace
}  // namespace tandem::test
