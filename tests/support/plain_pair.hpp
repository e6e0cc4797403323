// plain_pair.hpp: pairs of descriptors, files and standard streams that are none of tandem's.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/native_descriptor.hpp>
#include <utility>

namespace tandem::test {

/// They block.
void put_plain(io::native_descriptor to, std::string_view text);
/// Waits until so many bytes have come, or the end.
std::string take_plain(io::native_descriptor from, std::size_t bytes);
void close_descriptor(io::native_descriptor which) noexcept;
/// A file that is there, to read and write where its position is, or to write at its end.
io::native_descriptor open_plain(const std::string& path, bool appends = false);

/// Two descriptors, closed at its end.
class plain_pair {
 public:
  plain_pair(io::native_descriptor one, io::native_descriptor other) : ends_{one, other} {}
  plain_pair(const plain_pair&) = delete;
  plain_pair& operator=(const plain_pair&) = delete;
  ~plain_pair() {
    close_first();
    close_second();
  }

  io::native_descriptor first() const noexcept { return ends_[0]; }
  io::native_descriptor second() const noexcept { return ends_[1]; }
  void close_first() noexcept { close_one(ends_[0]); }
  void close_second() noexcept { close_one(ends_[1]); }

  /// What is written to the second comes out at the first; both block.
  static plain_pair pipe();
  /// These two are not on Windows.
  static plain_pair sockets();
  /// A terminal, of 80 columns and 24 rows, and the end where keys are struck: the second.
  static plain_pair terminal();

 private:
  static void close_one(io::native_descriptor& end) noexcept {
    const io::native_descriptor number = std::exchange(end, io::no_descriptor);
    if (number != io::no_descriptor) close_descriptor(number);
  }

  io::native_descriptor ends_[2];
};

/// What a system has of them: what is written to the second comes out at the first.
using pair_maker = plain_pair (*)();
std::span<const pair_maker> kinds_of_pairs();
/// Those of them that hold what nobody takes, until they are full.
std::span<const pair_maker> kinds_without_terminals();

/// The process's own are these as long as it lives.
class other_standard_streams {
 public:
  other_standard_streams(io::native_descriptor in, io::native_descriptor out);
  other_standard_streams(const other_standard_streams&) = delete;
  other_standard_streams& operator=(const other_standard_streams&) = delete;
  ~other_standard_streams();

 private:
  io::native_descriptor before_[3];
};

}  // namespace tandem::test
