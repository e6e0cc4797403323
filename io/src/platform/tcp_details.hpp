// tcp_details.hpp: what not every system lets be set on a TCP socket, and what it tells of a connection.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. What may fail answers with a std::error_code, or with a result that
// holds one; what the system does not have is std::errc::not_supported.
//
// pre of all that take a socket: it is open, and stays so during the call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/system_name.hpp>
#include <tandem/io/tcp_options.hpp>
#include <tandem/io/tcp_statistics.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

// Each as the member of tcp_options.
[[nodiscard]] std::error_code set_traffic_class(native_descriptor socket,
                                                std::uint8_t value) noexcept;
[[nodiscard]] std::error_code set_device(native_descriptor socket,
                                         const system_name& name) noexcept;
[[nodiscard]] std::error_code set_mark(native_descriptor socket, std::uint32_t mark) noexcept;
[[nodiscard]] std::error_code set_congestion_control(native_descriptor socket,
                                                     const system_name& name) noexcept;
[[nodiscard]] std::error_code set_max_segment_bytes(native_descriptor socket,
                                                    std::size_t bytes) noexcept;
[[nodiscard]] std::error_code set_fast_open(native_descriptor socket, bool on) noexcept;
// Of listen_options. pre: it does not listen yet
[[nodiscard]] std::error_code set_fast_open_queue(native_descriptor socket,
                                                  unsigned requests) noexcept;
[[nodiscard]] std::error_code set_defer_accept(native_descriptor socket,
                                               std::chrono::seconds span) noexcept;

/// Of these what the system has, as it has it.
void add_details(native_descriptor socket, tcp_options& options) noexcept;

result<tcp_statistics> statistics_of(native_descriptor socket) noexcept;

}  // namespace tandem::inline v0::io::platform
