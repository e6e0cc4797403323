// use_tls.cpp: a user's program on tandem::io_tls: one byte over an encrypted loopback connection.
// SPDX-License-Identifier: MIT
//
// It crosses the library's border in both directions: tasks that the library returns, and an exception
// that is thrown inside of it and caught here by its own type.
#include <array>
#include <cstddef>
#include <cstdio>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/tls.hpp>
#include <tandem/run.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace io = tandem::io;

namespace {

// Of "localhost", signed by itself, good until 2120. Nobody trusts it but this program.
constexpr const char* certificate = R"(-----BEGIN CERTIFICATE-----
MIIBXzCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJfaC2rjNiwiwhMY
+Cw4moi0+UNHD4e4bBSQNt/KWQHoXEpWFnk0D2EdGWa0A8BtLfbFhDT93lQaL78f
JpjqFwOjRTBDMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAAMB0G
A1UdDgQWBBS6t8Uw0I6/zYH/lOnRONT8O2+jlDAKBggqhkjOPQQDAgNJADBGAiEA
9BHlyrG70EC+KDwH2kyvQEuGW+iqdd2SPXnXagFnqFECIQDsG/c2uGPwfn9j5s1K
/29AsTNYoSXR3gibM3GysGMVdA==
-----END CERTIFICATE-----
)";
constexpr const char* private_key = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGy+vaxBkjeasFq5H
GZ0M/b6pyebA8GnGd8M7Ce0+hzWhRANCAASX2gtq4zYsIsITGPgsOJqItPlDRw+H
uGwUkDbfylkB6FxKVhZ5NA9hHRlmtAPAbS32xYQ0/d5UGi+/HyaY6hcD
-----END PRIVATE KEY-----
)";

io::tls::server_context server() {
  io::tls::server_options options;
  options.certificates.emplace_back(io::tls::pem::text(certificate),
                                    io::tls::pem::text(private_key));
  return io::tls::server_context(options);
}

tandem::task<void> send_a_byte(io::tcp_stream plain) {
  io::tls_stream stream = co_await io::tls::accept(std::move(plain), server());
  const std::array<std::byte, 1> out{std::byte{42}};
  co_await stream.write_all(out);
  stream.shutdown();
}

tandem::task<void> serve_once(io::tcp_listener& listener) {
  try {
    co_await send_a_byte(co_await listener.accept());
  } catch (const io::tls::error&) {
    // a client that does not trust it
  }
}

tandem::task<int> receive_a_byte(const io::tls::client_options& options) {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  tandem::join_handle<void> server = tandem::spawn(serve_once(listener));
  io::tcp_stream plain = co_await io::tcp_stream::connect(listener.local_endpoint());
  int received = -1;
  try {
    io::tls_stream stream = co_await io::tls::connect(std::move(plain), "localhost", options);
    std::array<std::byte, 1> in{};
    const std::size_t size = co_await stream.read(in);
    if (size == 1) received = std::to_integer<int>(in[0]);
  } catch (const io::tls::error& refusal) {
    if (refusal.code() == io::tls::errc::self_signed) received = -2;
  }
  co_await std::move(server);
  co_return received;
}

}  // namespace

int main() {
  io::tls::client_options options;
  options.trust_system = false;
  options.trusted.push_back(io::tls::pem::text(certificate));
  if (tandem::run(receive_a_byte(options)) != 42) return 1;
  if (tandem::run(receive_a_byte(io::tls::client_options())) != -2) return 2;
  std::puts("use_tls: ok");
}
