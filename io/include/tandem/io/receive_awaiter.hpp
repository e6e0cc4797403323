// receive_awaiter.hpp: the awaiter of socket_stream::receive().
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/multishot_awaiter.hpp>
#include <tandem/io/leased_buffer.hpp>
#include <tandem/result.hpp>
#include <type_traits>

namespace tandem::inline v0::io {

/// Awaiter of socket_stream::receive().
class [[nodiscard]] TANDEM_IO_API receive_awaiter final : public detail::multishot_awaiter {
 public:
  using lossy_when_dropped = std::true_type;  // race() refuses it

  explicit receive_awaiter(detail::socket& socket) noexcept : multishot_awaiter(socket) {}
  receive_awaiter(receive_awaiter&& other) noexcept = default;

  leased_buffer await_resume();
  result<leased_buffer> await_resume_result();

 private:
  const char* name() const noexcept override {
    return socket_->record().family == detail::socket_family::local ? "unix_stream::receive"
                                                                    : "tcp_stream::receive";
  }
  detail::multishot* make_source() override;
  bool take() noexcept override;

  leased_buffer got_;
};

}  // namespace tandem::inline v0::io
