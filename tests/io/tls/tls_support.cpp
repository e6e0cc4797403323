// tls_support.cpp: what several tests of TLS need.
// SPDX-License-Identifier: MIT
#include "io/tls/tls_support.hpp"

#include <cstring>
#include <tandem/when_all.hpp>
#include <tuple>
#include <vector>

namespace tandem::test {

const test_authority& common_authority() {
  static const test_authority authority;
  return authority;
}

const made_identity& common_identity() {
  static const made_identity made = [] {
    issue_request request("localhost");
    request.addresses = {"127.0.0.1", "::1"};
    return common_authority().issue(request);
  }();
  return made;
}

tls::identity as_identity(const made_identity& made, std::string password) {
  return {tls::pem::text(made.certificates), tls::pem::text(made.key), std::move(password)};
}

tls::server_options served_by(const made_identity& made) {
  tls::server_options options;
  options.certificates.push_back(as_identity(made));
  return options;
}

tls::client_options trusting(const test_authority& authority) {
  tls::client_options options;
  options.trust_system = false;
  options.trusted.push_back(tls::pem::text(authority.certificate()));
  return options;
}

tls::client_options trusting_anybody() {
  tls::client_options options;
  options.accept_any_certificate_from_anybody = true;
  return options;
}

task<tls_end> end_of(task<io::tls_stream> handshake) {
  tls_end end;
  try {
    end.stream = co_await std::move(handshake);
  } catch (const std::system_error& failure) {
    end.code = failure.code();
    end.what = failure.what();
  }
  co_return end;
}

task<tls_end> end_of(task<void> operation) {
  tls_end end;
  try {
    co_await std::move(operation);
  } catch (const std::system_error& failure) {
    end.code = failure.code();
    end.what = failure.what();
  }
  co_return end;
}

task<tls_end> end_of_read(io::tls_stream& stream) {
  const auto reads = [](io::tls_stream& from) -> task<void> {
    std::array<std::byte, 64> room;
    (void)co_await from.read(room);
  };
  co_return co_await end_of(reads(stream));
}

void expect_refusal(const tls_end& end, tls::errc code, std::string_view words) {
  EXPECT_EQ(end.code, make_error_code(code)) << end.code.message() << ": " << end.what;
  EXPECT_NE(end.what.find(words), std::string::npos) << end.what << " has no " << words;
  EXPECT_FALSE(end.stream.is_open());
}

task<any_pair> over_tcp() {
  connection plain = co_await make_connection();
  co_return any_pair(std::move(plain.client), std::move(plain.server));
}

any_pair over_memory() {
  auto both = make_memory_connection<memory_stream>();
  return {std::move(both.first), std::move(both.second)};
}

task<tls_ends> shake_hands(any_pair below, tls::client_context client, tls::server_context server,
                           std::string name) {
  auto [one, other] = co_await when_all(
      end_of(tls::connect(std::move(below.client), std::move(name), std::move(client))),
      end_of(tls::accept(std::move(below.server), std::move(server))));
  co_return tls_ends(std::move(one), std::move(other));
}

task<tls_ends> try_tls(tls::client_context client, tls::server_context server, std::string name) {
  any_pair below = co_await over_tcp();
  co_return co_await shake_hands(std::move(below), std::move(client), std::move(server),
                                 std::move(name));
}

namespace {

tls_pair both_of(tls_ends ends) {
  EXPECT_FALSE(ends.client.code) << ends.client.what;
  EXPECT_FALSE(ends.server.code) << ends.server.what;
  if (ends.client.code) throw std::system_error(ends.client.code, ends.client.what);
  if (ends.server.code) throw std::system_error(ends.server.code, ends.server.what);
  return {std::move(ends.client.stream), std::move(ends.server.stream)};
}

}  // namespace

task<tls_pair> make_tls_pair(tls::client_context client, tls::server_context server,
                             std::string name) {
  co_return both_of(co_await try_tls(std::move(client), std::move(server), std::move(name)));
}

task<tls_pair> make_tls_pair() {
  any_pair below = co_await over_tcp();
  co_return co_await make_tls_pair_over(std::move(below));
}

task<tls_pair> make_tls_pair_over(any_pair below) {
  co_return both_of(
      co_await shake_hands(std::move(below), trusting(), tls::server_context(served_by())));
}

bool same_bytes(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

std::span<const std::byte> many_bytes(std::size_t count) {
  static const std::vector<std::byte> all = pattern(std::size_t{8} << 20, 1);
  return std::span(all).first(count);
}

task<void> writes_until_stopped(io::tls_stream& to, std::span<const std::byte> bytes,
                                std::size_t& taken) {
  while (taken < bytes.size()) taken += co_await to.write(bytes.subspan(taken));
}

task<void> expect_talks(tls_pair& both) {
  std::array<std::byte, 8> room;
  co_await both.client.write_all(bytes_of("ask"));
  EXPECT_EQ(co_await both.server.read(room), 3U);
  co_await both.server.write_all(bytes_of("answer"));
  EXPECT_EQ(co_await both.client.read(room), 6U);
}

}  // namespace tandem::test
