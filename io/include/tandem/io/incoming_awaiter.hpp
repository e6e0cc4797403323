// incoming_awaiter.hpp: the awaiter of tcp_listener::incoming().
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/multishot_awaiter.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/result.hpp>
#include <type_traits>

namespace tandem::inline v0::io {

/// Awaiter of tcp_listener::incoming().
class [[nodiscard]] TANDEM_IO_API incoming_awaiter final : public detail::multishot_awaiter {
 public:
  using lossy_when_dropped = std::true_type;  // race() refuses it

  /// @param connections_on  the thread of each connection; null: where the fewest are
  incoming_awaiter(detail::socket& socket, completion_pool* pool,
                   completion_thread* connections_on) noexcept
      : multishot_awaiter(socket), pool_(pool), connections_on_(connections_on) {}
  incoming_awaiter(incoming_awaiter&& other) noexcept;
  ~incoming_awaiter() override;

  tcp_stream await_resume();
  result<tcp_stream> await_resume_result();

 private:
  const char* name() const noexcept override { return "tcp_listener::incoming"; }
  detail::multishot* make_source() override;
  bool take() noexcept override;
  tcp_stream made() noexcept;

  completion_pool* pool_;
  completion_thread* connections_on_;
  native_descriptor got_ = no_descriptor;
};

}  // namespace tandem::inline v0::io
