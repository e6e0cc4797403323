// resolve.hpp: the addresses of a host.
// SPDX-License-Identifier: MIT
//
// getaddrinfo() blocks, so it runs on the threads of tandem::blocking(); what is a number already
// needs none. Nothing is cached here: that is the system resolver's business.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <vector>

namespace tandem::inline v0::io {

/// What a failure of resolve() means, to compare its code with.
enum class resolve_errc {
  host_not_found = 1,  ///< there is no such name, or it has no address
  service_not_found,   ///< there is no such service
  try_again,           ///< no name server answered, for now
  failed,              ///< a name server answered with a failure
};

/// Of the codes that resolve() throws: those of getaddrinfo(), with its texts.
TANDEM_IO_API const std::error_category& resolve_category() noexcept;
TANDEM_IO_API std::error_condition make_error_condition(resolve_errc meaning) noexcept;

/// The addresses of a host, in the order in which they should be tried.
///
///     for (const auto& each : co_await tandem::io::resolve("example.org", "https"))
///       std::puts(each.to_string().c_str());
///
/// @param host     a name, or an address as a number ("192.0.2.1", "2001:db8::1", "fe80::1%eth0")
/// @param service  a port's number, or a name such as "https"
/// @returns        at least one endpoint
/// @throws         std::system_error: a code that compares to resolve_errc, or the system's own,
///                 with host and service in its text; operation_cancelled; as blocking()
/// @cancellation   as blocking(): a look-up that has begun is waited for, since getaddrinfo()
///                 cannot be interrupted; with_timeout around it ends late
/// @resumes_on     the caller's home
/// @cost           numbers: one call that does not block. Else one call on a blocking thread
/// @source         RFC 6724 (the order); man page getaddrinfo(3)
TANDEM_IO_API task<std::vector<endpoint>> resolve(std::string host, std::string service);
/// As above, for a port.
TANDEM_IO_API task<std::vector<endpoint>> resolve(std::string host, std::uint16_t port);

}  // namespace tandem::inline v0::io

template <>
struct std::is_error_condition_enum<tandem::io::resolve_errc> : std::true_type {};
