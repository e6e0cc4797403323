// job.hpp: what both programs do: ask so many questions, and sum up the answers, which another client gives.
// SPDX-License-Identifier: MIT
//
// before | after --port P [--messages N] [--size BYTES] [--window W] [--limit S] [--figures 1]
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace migrations {

inline constexpr const char* questions = "tandem/questions";
inline constexpr const char* answers = "tandem/answers";
inline constexpr int at_least_once = 1;  // the quality of service
inline constexpr int ping_seconds = 60;

class job {
 public:
  using clock = std::chrono::steady_clock;

  job(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view name(argv[i]);
      const double value = i + 1 < argc ? std::strtod(argv[i + 1], nullptr) : -1;
      if (value >= 1 && value < 65536 && name == "--port") {
        port = static_cast<int>(value);
      } else if (value >= 1 && name == "--messages") {
        messages = static_cast<std::size_t>(value);
      } else if (value >= 24 && name == "--size") {
        size = static_cast<std::size_t>(value);
      } else if (value >= 1 && name == "--window") {
        window = static_cast<std::size_t>(value);
      } else if (value > 0 && name == "--limit") {
        limit = std::chrono::milliseconds(static_cast<std::int64_t>(value * 1000));
      } else if (name == "--figures") {
        wants_figures_ = true;
      } else {
        std::fprintf(stderr,
                     "%s: --port P --messages N --size BYTES --window W --limit S --figures 1\n",
                     argv[0]);
        std::exit(2);
      }
    }
    asked_.resize(messages);
    took_.reserve(messages);
  }

  /// The text of question `number`; its time is taken from here on.
  std::string ask(std::size_t number) {
    std::string text = std::to_string(number) + " ";
    while (text.size() < size) text += static_cast<char>('a' + (text.size() * 7 + number) % 26);
    asked_[number] = clock::now();
    return text;
  }
  /// @returns  which question it answers; `messages`: none
  std::size_t take(std::string_view text) {
    const std::size_t number =
        std::strtoul(std::string(text.substr(0, text.find(' '))).c_str(), nullptr, 10);
    if (number >= messages || asked_[number] == clock::time_point()) return messages;
    took_.push_back(clock::now() - std::exchange(asked_[number], clock::time_point()));
    std::uint64_t hash = 14695981039346656037U;
    for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
    checksum_ += hash;  // in whatever order they come
    if (took_.size() == 1) say("the first answer has come\n");
    return number;
  }
  bool is_done() const { return took_.size() == messages; }

  /// @returns  the program's exit code
  int report() {
    std::printf("%zu answers, checksum %016llx\n", took_.size(),
                static_cast<unsigned long long>(checksum_));
    if (wants_figures_) {
      std::sort(took_.begin(), took_.end());
      rusage used{};
      ::getrusage(RUSAGE_SELF, &used);
      const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
      };
      const auto micros = [this](double part) {
        const auto at = static_cast<std::size_t>(part * static_cast<double>(took_.size() - 1));
        return std::chrono::duration<double, std::micro>(took_[at]).count();
      };
      std::printf("seconds=%f user=%f system=%f p50_us=%.1f p99_us=%.1f\n",
                  std::chrono::duration<double>(clock::now() - began_).count(),
                  seconds(used.ru_utime), seconds(used.ru_stime), micros(0.5), micros(0.99));
    }
    return is_done() ? 0 : 1;
  }
  static int failed(std::string_view why) {
    std::fprintf(stderr, "failed: %.*s\n", static_cast<int>(why.size()), why.data());
    return 1;
  }
  static void say(const char* what) {
    std::fputs(what, stdout);
    std::fflush(stdout);
  }

  int port = 1883;  ///< of 127.0.0.1
  std::size_t messages = 1000;
  std::size_t size = 64;
  std::size_t window = 16;  ///< questions that wait for their answers at once
  std::chrono::milliseconds limit{60'000};

 private:
  bool wants_figures_ = false;
  const clock::time_point began_ = clock::now();
  std::vector<clock::time_point> asked_;
  std::vector<clock::duration> took_;
  std::uint64_t checksum_ = 0;
};

}  // namespace migrations
