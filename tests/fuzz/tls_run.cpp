// tls_run.cpp: what all inputs of the fuzzer have in common.
// SPDX-License-Identifier: MIT
#include "tls_run.hpp"

#include <openssl/err.h>

#include <array>
#include <memory>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <utility>

#include "io/tls/counted_sessions.hpp"
#include "io/tls/tls_support.hpp"

namespace tandem::test {

namespace {

template <class Options>
void choose(Options& options, std::uint8_t choice) {
  if (choice == 1) options.maximum_version = tls::version::tls1_2;
  if (choice == 2) options.protocols = {"h2", "http/1.1"};
  if (choice % 2 == 1) options.handshake_on = tls::handshake_home::caller;
}

tls::client_context make_client(std::uint8_t choice) {
  tls::client_options options = trusting();
  choose(options, choice);
  if (choice == 3) {
    issue_request request("a client");
    request.is_client = true;
    options.certificate.push_back(as_identity(common_authority().issue(request)));
  }
  return {options};
}
tls::server_context make_server(std::uint8_t choice) {
  tls::server_options options = served_by();
  choose(options, choice);
  if (choice == 3) {
    options.from_clients = tls::client_certificates::accepted;
    options.trusted.push_back(tls::pem::text(common_authority().certificate()));
  }
  return tls::server_context(options);
}

}  // namespace

const tls::client_context& fuzz_client(std::uint8_t choice) {
  static const std::array<tls::client_context, context_choices> all{make_client(0), make_client(1),
                                                                    make_client(2), make_client(3)};
  return all.at(choice);
}
const tls::server_context& fuzz_server(std::uint8_t choice) {
  static const std::array<tls::server_context, context_choices> all{make_server(0), make_server(1),
                                                                    make_server(2), make_server(3)};
  return all.at(choice);
}

void run_fuzzed(std::uint8_t seed, const std::function<task<void>()>& program) {
  runtime_options options;
  options.clock = virtual_time(seed, 1U + seed % 3U);
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  {
    runtime rt(options);
    try {
      sync_wait(rt.workers(), program());
    } catch (const stalled&) {
      require(false, "whatever the peer does, everything ends");
    }
    require(rt.drain(2 * silence), "nothing goes on when the program is over");
    require(rt.live_tasks() == 0, "no task is left");
  }
  require(live_ssl_objects() == 0, "no SSL object is left");
  require(ERR_peek_error() == 0, "OpenSSL's queue of errors is empty afterwards");
}

task<bool> ends_well(task<void> what) {
  try {
    co_await with_timeout(silence, std::move(what));
    co_return true;
  } catch (const operation_cancelled&) {
    co_return false;
  } catch (const std::system_error& failure) {
    require(failure.code().value() != 0, "an error has a code");
    require(!std::string(failure.what()).empty(), "an error has a text");
    co_return false;
  }
}

void run_tls_input(std::span<const std::uint8_t> bytes) {
  fuzz_input input(bytes);
  if (input.one_of(2) == 0) {
    run_scripted_peer(input);
  } else {
    run_changed_flights(input);
  }
}

}  // namespace tandem::test
