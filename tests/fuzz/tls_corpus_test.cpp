// tls_corpus_test.cpp: the fuzzer's corpus is replayed, as it is and changed by a seed.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "tls_run.hpp"
#include "watchdog.hpp"

namespace {

using input = std::vector<std::uint8_t>;

std::vector<std::filesystem::path> corpus_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(TANDEM_TEST_CORPUS)) {
    files.push_back(each.path());
  }
  std::ranges::sort(files);
  return files;
}

input read_input(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs it; if it breaks a law, or hangs, the input is told.
void run_input(const input& bytes, std::string name) {
  tandem::test::name_of_input() = std::move(name);
  const tandem::test::hang_report report([](std::FILE* out) {
    std::fprintf(out, "input: %s\n", tandem::test::name_of_input().c_str());
  });
  tandem::test::run_tls_input(bytes);
}

TEST(tls_fuzz, every_input_of_the_corpus_comes_to_an_end) {
  const auto files = corpus_files();
  EXPECT_GT(files.size(), 20U) << "there is nothing in " << TANDEM_TEST_CORPUS;
  for (const auto& file : files) run_input(read_input(file), file.filename().string());
}

/// A few bytes changed, taken away, put in.
void change(input& bytes, std::mt19937_64& random) {
  for (std::uint64_t left = 1 + random() % 4; left > 0; --left) {
    const auto at = static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1));
    const auto value = static_cast<std::uint8_t>(random());
    switch (random() % 4) {
      case 0: bytes.insert(bytes.begin() + at, value); break;
      case 1: bytes.resize(static_cast<std::size_t>(at)); break;
      default:
        if (at < std::ssize(bytes)) bytes[static_cast<std::size_t>(at)] = value;
    }
  }
}

std::string as_text(const input& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t each : bytes) {
    text += digits[each >> 4U];
    text += digits[each & 15U];
  }
  return text;
}

TEST(tls_fuzz, inputs_like_those_of_the_corpus_come_to_an_end) {
  std::vector<input> all;
  for (const auto& file : corpus_files()) all.push_back(read_input(file));
  ASSERT_FALSE(all.empty());
  tandem::test::stress_for(std::chrono::milliseconds(500), [&](std::mt19937_64& random) {
    input made = all[random() % all.size()];
    change(made, random);
    run_input(made, as_text(made));
  });
}

}  // namespace
