// byte_queue.hpp: bytes in their order, in one piece of memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <tandem/io/export.hpp>
#include <vector>

namespace tandem::inline v0::io::detail {

class TANDEM_IO_API byte_queue {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// Memory is taken by the first use.
  explicit byte_queue(std::size_t capacity) noexcept : first_capacity_(capacity) {}

  std::span<const std::byte> held() const noexcept {
    return std::span(data_).subspan(begin_, end_ - begin_);
  }
  std::size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return begin_ == end_; }
  std::size_t capacity() const noexcept { return first_capacity_; }

  /// Room behind the last byte: at least one byte. @throws std::bad_alloc, and nothing has changed
  std::span<std::byte> room();
  /// The first `count` bytes of room() are held now.
  void commit(std::size_t count) noexcept { end_ += count; }
  /// @throws std::bad_alloc, and nothing has changed
  void append(std::span<const std::byte> bytes);
  /// Takes the oldest ones. pre: count <= size()
  void consume(std::size_t count) noexcept;
  /// Copies the oldest ones out, and takes them. @returns how many
  std::size_t take(std::span<std::byte> out) noexcept;
  /// Puts them before the oldest one. @throws std::bad_alloc
  void put_back(std::span<const std::byte> bytes);
  /// Where `text` begins, at `from` or later; npos: nowhere.
  std::size_t find(std::string_view text, std::size_t from) const noexcept;

 private:
  /// Makes room for `more` bytes behind and `before` bytes in front.
  void make_room(std::size_t more, std::size_t before = 0);

  std::size_t first_capacity_;
  std::vector<std::byte> data_;
  std::size_t begin_ = 0;  // of what is held
  std::size_t end_ = 0;
};

}  // namespace tandem::inline v0::io::detail
