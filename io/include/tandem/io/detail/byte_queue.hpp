// byte_queue.hpp: bytes in their order, in one piece of memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

class TANDEM_IO_API byte_queue {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// Memory is taken by the first use.
  explicit byte_queue(std::size_t capacity) noexcept : first_capacity_(capacity) {}

  std::span<const std::byte> held() const noexcept {
    return {memory_.data_.get() + begin_, end_ - begin_};
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

  /// Memory for what is taken now and may have to be put back.
  class spare {
   public:
    spare() noexcept {}  // NOLINT: no aggregate
    explicit spare(std::size_t size);

   private:
    friend class byte_queue;
    std::unique_ptr<std::byte[]> data_;
    std::size_t size_ = 0;
  };
  /// For `bytes` that will be taken out of here and, past it, from the stream. Empty if what is held
  /// leaves room for them. @throws std::bad_alloc
  spare spare_for(std::size_t bytes) const;
  /// Puts both before the oldest one: needs no memory. pre: `kept` is spare_for() of them and of
  /// what has come since and is held
  void put_back(std::span<const std::byte> first, std::span<const std::byte> second,
                spare&& kept) noexcept;
  /// Where `text` begins, at `from` or later; npos: nowhere.
  std::size_t find(std::string_view text, std::size_t from) const noexcept;

 private:
  /// Makes room for `more` bytes behind and `before` bytes in front.
  void make_room(std::size_t more, std::size_t before = 0);
  /// To `before`, in other memory if `larger` has any.
  void move_held(spare&& larger, std::size_t before) noexcept;

  std::size_t first_capacity_;
  spare memory_;
  std::size_t begin_ = 0;  // of what is held
  std::size_t end_ = 0;
};

}  // namespace tandem::inline v0::io::detail
