// fuzz_input.hpp: the bytes that a fuzzer has made up, as choices and as what is left of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace tandem::test {

/// Of tests that run many inputs: what the present one is called.
inline std::string& name_of_input() {
  static std::string name;
  return name;
}

/// What must hold whatever the input is: a fuzzer keeps the input that ends the process.
inline void require(bool holds, std::string_view law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %.*s\ninput: %s\n", static_cast<int>(law.size()), law.data(),
               name_of_input().c_str());
  std::abort();
}

/// Read from the front; when nothing is left every choice is 0.
class fuzz_input {
 public:
  explicit fuzz_input(std::span<const std::uint8_t> bytes) noexcept : left_(bytes) {}

  std::uint8_t byte() noexcept {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  /// @returns  one of 0 to `count` - 1
  std::uint8_t one_of(std::uint8_t count) noexcept {
    return static_cast<std::uint8_t>(byte() % count);
  }
  std::span<const std::uint8_t> take(std::size_t count) noexcept {
    const auto first = left_.first(count < left_.size() ? count : left_.size());
    left_ = left_.subspan(first.size());
    return first;
  }
  std::span<const std::uint8_t> rest() const noexcept { return left_; }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace tandem::test
