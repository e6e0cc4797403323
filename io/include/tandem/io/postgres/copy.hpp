// copy.hpp: COPY, both ways, as streams.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/postgres/export.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres {

namespace detail {

class session;

/// The right to the COPY that a connection is in; whoever drops it leaves the end of the COPY to
/// the connection's next operation.
class TANDEM_IO_POSTGRES_API copy_hold {
 public:
  copy_hold(session& of, std::uint64_t scope) noexcept : of_(&of), scope_(scope) {}
  copy_hold(copy_hold&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), scope_(other.scope_) {}
  copy_hold& operator=(copy_hold&& other) noexcept {
    if (this != &other) {
      drop();
      of_ = std::exchange(other.of_, nullptr);
      scope_ = other.scope_;
    }
    return *this;
  }
  ~copy_hold() { drop(); }

 protected:
  /// @throws  error (closed) if the COPY has ended
  session& live() const;
  void drop() noexcept;

  session* of_;  // null: the COPY has ended
  std::uint64_t scope_;
};

}  // namespace detail

/// COPY ... FROM STDIN under way. Dropped before finish() it is given up (CopyFail): the table has
/// nothing of it, and the connection is usable, after its next operation has read the end. The
/// connection outlives it.
///
/// @thread_safety  one operation at a time
class TANDEM_IO_POSTGRES_API copy_in : private detail::copy_hold {
 public:
  using detail::copy_hold::copy_hold;

  /// Sends bytes, in the format that the COPY has asked for; rows may be cut anywhere.
  ///
  /// @param data     stays the caller's, alive until the await returns
  /// @throws         error: what the server says of what came before; the COPY has then ended
  /// @cancellation   gives the COPY up, as if it was dropped
  /// @resumes_on     the caller's home
  /// @cost           libpq copies the bytes; waits while the server takes no more
  task<void> write_all(std::span<const std::byte> data);
  task<void> write_all(std::string_view text);

  /// All rows were sent.
  ///
  /// @returns        how many rows the table has got
  /// @throws         error: what the server says of the rows: none of them is in the table
  /// @cancellation   cancels the statement, as query()
  task<std::uint64_t> finish();
  /// Gives it up, and reads the end.
  task<void> cancel();
};

/// COPY ... TO STDOUT under way. Dropped before its end it is cancelled, by the next operation of
/// the connection. The connection outlives it.
///
/// @thread_safety  one operation at a time
class TANDEM_IO_POSTGRES_API copy_out : private detail::copy_hold {
 public:
  copy_out(detail::session& of, std::uint64_t scope) noexcept : copy_hold(of, scope) {}

  /// The next row, in the format that the COPY has asked for; in text with the end of its line.
  ///
  /// @returns        valid until the next call; empty: that was all
  /// @throws         error: what the server says
  /// @cancellation   ends the wait; no row is lost, the next call has it
  /// @resumes_on     the caller's home
  /// @cost           libpq allocates each row; a wait for readiness where none has come
  task<std::span<const std::byte>> read();
  /// Has the server end it, and reads what is on its way.
  task<void> cancel();

 private:
  struct freed {
    TANDEM_IO_POSTGRES_API void operator()(char* row) const noexcept;
  };
  std::unique_ptr<char, freed> row_;
};

}  // namespace tandem::inline v0::io::postgres
