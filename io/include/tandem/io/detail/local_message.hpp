// local_message.hpp: a message of a Unix socket on its way, in the frame that awaits it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/peer_credentials.hpp>
#include <tandem/io/unix_endpoint.hpp>

namespace tandem::inline v0::io::detail {

/// Nothing that a braced list could become: `{}` means no descriptors, not the descriptor 0.
template <class T>
concept one_descriptor = std::same_as<T, native_descriptor>;

/// What an operation with buffer_form::message points to.
class TANDEM_IO_API local_message {
 public:
  /// More than that is sent by hardly anybody, and lies in every frame that receives.
  static constexpr std::size_t most_descriptors = 64;
  /// Linux sends no more at once (SCM_MAX_FD).
  static constexpr std::size_t most_given = 253;

  /// To be received, with up to so many descriptors.
  local_message(std::span<std::byte> room, std::size_t most) noexcept
      : data(room.data()), bytes(room.size()), wanted(most) {}
  /// To be sent.
  local_message(const void* what, std::size_t size,
                std::span<const native_descriptor> with) noexcept
      : data(const_cast<void*>(what)), bytes(size), given(with) {}  // NOLINT: it is only read
  /// As above, with one descriptor, whose number is kept here.
  local_message(const void* what, std::size_t size, native_descriptor with) noexcept
      : local_message(what, size, std::span<const native_descriptor>()) {
    keep(with);
  }
  local_message(const local_message&) = delete;
  local_message& operator=(const local_message&) = delete;
  /// For an awaiter that has not started: nothing was received.
  local_message(local_message&& other) noexcept
      : data(other.data), bytes(other.bytes), given(other.given), wanted(other.wanted) {
    if (given.data() == other.descriptors.data()) keep(other.descriptors.front());
  }
  /// Closes what nobody has taken.
  ~local_message() {
    if (count != 0) close_descriptors();
  }
  void close_descriptors() noexcept;

  void* data;
  std::size_t bytes;
  std::span<const native_descriptor> given;
  std::size_t wanted = 0;

  // Of one that has come; `descriptors` also of one to be sent, see keep()
  std::array<native_descriptor, most_descriptors> descriptors;
  std::size_t count = 0;  ///< of descriptors that are ours
  std::size_t surplus = 0;
  bool lacks_descriptors = false;
  bool is_cut = false;
  unix_endpoint sender;
  std::optional<peer_credentials> credentials;

 private:
  void keep(native_descriptor with) noexcept {
    descriptors.front() = with;
    given = std::span(descriptors).first(1);
  }
};

}  // namespace tandem::inline v0::io::detail
