// resolve.hpp: the addresses of a host, and the name of an address.
// SPDX-License-Identifier: MIT
//
// getaddrinfo() blocks, so it runs on the threads of tandem::blocking(); what is a number already
// needs none. Nothing is cached here: that is the system resolver's business. A call that hangs
// cannot be interrupted, so nobody waits for it: it has all it needs to itself, and who has given
// up is gone. Its thread is taken until the system gives up, too (resolv.conf: some 10 s a name
// server), and the runtime's end waits for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
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

/// How long, and how often, names are asked for.
///
///     tandem::io::resolve_options patient;
///     patient.tries = 3;
///     patient.limit = 2s;
///     auto found = co_await tandem::io::resolve("example.org", "https", patient);
class resolve_options {
 public:
  resolve_options() noexcept {
  }  // NOLINT: not an aggregate, which g++ 12 could not take inside co_await

  /// In all, the first one included, while no name server answers (resolve_errc::try_again), or the
  /// limit is over; 0 counts as 1.
  unsigned tries = 1;
  /// Between two tries.
  std::chrono::milliseconds pause{100};
  /// Of one try, after which it ends with errc::timed_out. None: as long as the system takes.
  std::optional<std::chrono::milliseconds> limit;
};

/// The addresses of a host, in the order in which they should be tried.
///
///     for (const auto& each : co_await tandem::io::resolve("example.org", "https"))
///       std::puts(each.to_string().c_str());
///
/// @param host     a name, or an address as a number ("192.0.2.1", "2001:db8::1", "fe80::1%eth0")
/// @param service  a port's number, or a name such as "https"
/// @returns        at least one endpoint
/// @throws         std::system_error: a code that compares to resolve_errc, or the system's own,
///                 with host and service in its text; timed_out (resolve_options::limit);
///                 operation_cancelled; as blocking()
/// @cancellation   ends the await at once. A call that has begun goes on by itself, and its answer
///                 is dropped: see above
/// @resumes_on     the caller's home
/// @cost           numbers: one call that does not block. Else a spawned task, and one call on a
///                 blocking thread, of which each that hangs takes one
///                 (blocking_options::max_threads)
/// @source         RFC 6724 (the order); man page getaddrinfo(3)
TANDEM_IO_API task<std::vector<endpoint>> resolve(std::string host, std::string service,
                                                  resolve_options options = {});
/// As above, for a port.
TANDEM_IO_API task<std::vector<endpoint>> resolve(std::string host, std::uint16_t port,
                                                  resolve_options options = {});

/// The name that an address has (a reverse look-up). Who has the address says what that is: before
/// a name is believed, it is looked up, and the address has to be among what it has.
///
///     std::string name = co_await tandem::io::name_of(stream.remote_endpoint());
///
/// @param address   its port does not matter
/// @throws          as resolve(), with the address in its text: host_not_found if it has no name
/// @cancellation    as resolve()
/// @resumes_on      the caller's home
/// @cost            a spawned task, and one call on a blocking thread
/// @source          man page getnameinfo(3): NI_NAMEREQD
TANDEM_IO_API task<std::string> name_of(endpoint address, resolve_options options = {});

}  // namespace tandem::inline v0::io

template <>
struct std::is_error_condition_enum<tandem::io::resolve_errc> : std::true_type {};
