// sliding_tiles.hpp: what lies on the cells of a sliding board.
// SPDX-License-Identifier: MIT
//
// Row-major, 0 is the blank. Boards of up to 16 cells are packed into 64 bits, four per tile, cell
// 0 lowest; larger ones (256 cells at most) are strings with a byte per tile.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace puzzles {

/// Up to 16 tiles in 64 bits; what lies above the board's cells is kept at 15, never taken for a
/// blank.
class packed_tiles {
 public:
  using packed = std::uint64_t;
  static constexpr unsigned max_cells = 16;

  packed_tiles() = default;
  explicit packed_tiles(const std::vector<int>& tiles);
  explicit packed_tiles(packed bits) noexcept : bits_(bits) {}

  unsigned operator[](unsigned cell) const noexcept {
    return static_cast<unsigned>(bits_ >> (4 * cell) & 15);
  }
  /// The lowest nibble that is 0, after Mycroft: exact for the lowest one, which is all we ask.
  unsigned blank() const noexcept {
    constexpr std::uint64_t ones = 0x1111111111111111U;
    return static_cast<unsigned>(std::countr_zero((bits_ - ones) & ~bits_ & (ones << 3))) / 4;
  }
  /// Moves the tile at `cell` into the blank at `blank`.
  void slide(unsigned cell, unsigned blank) noexcept {
    const std::uint64_t tile = bits_ >> (4 * cell) & 15;
    bits_ ^= tile << (4 * cell) | tile << (4 * blank);
  }

  packed pack() const noexcept { return bits_; }
  std::uint64_t hash() const noexcept { return bits_; }
  bool operator==(const packed_tiles&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

/// Any number of tiles up to 256, one byte each.
class byte_tiles {
 public:
  using packed = std::string;
  static constexpr unsigned max_cells = 256;

  byte_tiles() = default;
  explicit byte_tiles(const std::vector<int>& tiles);
  explicit byte_tiles(packed bytes) noexcept : bytes_(std::move(bytes)) {}

  unsigned operator[](unsigned cell) const noexcept {
    return static_cast<unsigned char>(bytes_[cell]);
  }
  unsigned blank() const noexcept { return static_cast<unsigned>(bytes_.find('\0')); }
  void slide(unsigned cell, unsigned blank) noexcept { std::swap(bytes_[cell], bytes_[blank]); }

  const packed& pack() const noexcept { return bytes_; }
  std::uint64_t hash() const noexcept { return std::hash<std::string>{}(bytes_); }
  bool operator==(const byte_tiles&) const = default;

 private:
  std::string bytes_;
};

}  // namespace puzzles
