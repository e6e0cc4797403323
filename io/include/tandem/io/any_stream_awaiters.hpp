// any_stream_awaiters.hpp: the awaiters of any_stream's operations.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <tandem/io/detail/erased_awaiter.hpp>
#include <tandem/io/tcp_stream.hpp>

namespace tandem::inline v0::io {

/// Awaiter of any_stream::read() and write().
class [[nodiscard]] any_transfer_awaiter final
    : public detail::erased_awaiter<transfer_awaiter, std::size_t> {
 public:
  using erased_awaiter::erased_awaiter;
};

/// Awaiter of any_stream::write_all().
class [[nodiscard]] any_write_all_awaiter final
    : public detail::erased_awaiter<write_all_awaiter, void> {
 public:
  using erased_awaiter::erased_awaiter;
};

/// Awaiter of any_stream::write_all() of several buffers.
class [[nodiscard]] any_vectored_write_awaiter final
    : public detail::erased_awaiter<vectored_write_awaiter, void> {
 public:
  using erased_awaiter::erased_awaiter;
};

}  // namespace tandem::inline v0::io
