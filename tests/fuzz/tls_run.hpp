// tls_run.hpp: one input of the fuzzer as a program: a runtime for it, and what must be true after it.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <system_error>
#include <tandem/io/tls.hpp>
#include <tandem/task.hpp>

#include "fuzz_input.hpp"
#include "fuzz_stream.hpp"

namespace tandem::test {

/// More than anything takes that does not wait for ever, by the virtual clock.
inline constexpr auto silence = std::chrono::hours(1);

/// Contexts, made once: of each version, with ALPN and client certificates or without.
const io::tls::client_context& fuzz_client(std::uint8_t choice);
const io::tls::server_context& fuzz_server(std::uint8_t choice);
inline constexpr std::uint8_t context_choices = 4;

/// Runs `program` with a virtual clock. Afterwards no task and no SSL object is left, and OpenSSL's
/// queue of errors is empty.
void run_fuzzed(std::uint8_t seed, const std::function<task<void>()>& program);

/// Awaits it: whether it has come to its end. An error of the system or of TLS, and a stop by a time
/// limit, are ends like any other; other exceptions are none.
task<bool> ends_well(task<void> what);

/// A peer that says what the input has, to a server or a client of ours.
void run_scripted_peer(fuzz_input input);
/// A client and a server of ours, between whom somebody changes what the input names.
void run_changed_flights(fuzz_input input);
/// What libFuzzer calls.
void run_tls_input(std::span<const std::uint8_t> bytes);

}  // namespace tandem::test
