// job.hpp: what both programs are asked, and what they print: one line for each URL, in the order of the URLs.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace migrations {

/// What has become of one download.
class download {
 public:
  explicit download(std::string from) : url(std::move(from)) {}

  void take(std::string_view bytes) {
    size += bytes.size();
    for (const char each : bytes) sum = (sum ^ static_cast<unsigned char>(each)) * 16777619U;
  }
  void print() const {
    if (failure.empty()) {
      std::printf("%ld %llu %08x %s\n", status, static_cast<unsigned long long>(size), sum,
                  url.c_str());
    } else {
      std::printf("failed: %s\n", failure.c_str());
    }
  }

  std::string url;
  long status = 0;
  std::uint64_t size = 0;
  std::uint32_t sum = 2166136261U;  // FNV-1a
  std::string failure;
};

/// before|after [--at-once N] [--limit MILLISECONDS] [--times N] [--quiet yes] URL...
class job {
 public:
  job(int argc, char** argv) {
    std::vector<std::string> urls;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (!word.starts_with("--")) {
        urls.emplace_back(word);
      } else if (i + 1 == argc) {
        throw std::invalid_argument(std::string(word) + " needs a value");
      } else if (const char* const value = argv[++i]; word == "--at-once") {
        at_once = number(value);
      } else if (word == "--limit") {
        limit = std::chrono::milliseconds(number(value));
      } else if (word == "--times") {
        times = number(value);
      } else if (word == "--quiet") {
        is_quiet = true;
      } else {
        throw std::invalid_argument("unknown option: " + std::string(word));
      }
    }
    for (unsigned i = 0; i < times; ++i) {
      for (const std::string& each : urls) downloads.emplace_back(each);
    }
  }

  void print() const {
    if (is_quiet) return;
    for (const download& each : downloads) each.print();
  }

  unsigned at_once = 64;
  std::chrono::milliseconds limit{10'000};
  unsigned times = 1;
  bool is_quiet = false;
  std::vector<download> downloads;

 private:
  static unsigned number(std::string_view text) {
    unsigned value = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, value).ptr != end || value == 0) {
      throw std::invalid_argument("not a count: " + std::string(text));
    }
    return value;
  }
};

}  // namespace migrations
