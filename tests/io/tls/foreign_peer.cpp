// foreign_peer.cpp: the command lines of foreign programs.
// SPDX-License-Identifier: MIT
#include "io/tls/foreign_peer.hpp"

#include <span>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/tls/tls_support.hpp"

namespace tandem::test {

namespace {

using io::tls::version;
using words = std::vector<std::string>;

const temporary_folder& folder() {
  static const temporary_folder made;
  return made;
}

std::string put_text(std::string_view name, std::string_view text) {
  const std::string path = folder() / name;
  put(path, std::as_bytes(std::span(text)));
  return path;
}

std::string openssl_version(version which) {
  return which == version::tls1_2 ? "-tls1_2" : "-tls1_3";
}
std::string gnutls_version(version which) {
  const std::string name = which == version::tls1_2 ? "1.2" : "1.3";
  return "--priority=NORMAL:-VERS-ALL:+VERS-TLS" + name;
}

std::string trusted_by(const peer_request& request) {
  return request.trusted.empty() ? peer_files::shared().authority : request.trusted;
}

words s_server(const peer_request& request, const peer_files& files) {
  words all{"openssl",
            "s_server",
            "-accept",
            "127.0.0.1:0",
            "-cert",
            files.certificate,
            "-key",
            files.key,
            "-CAfile",
            trusted_by(request),
            openssl_version(request.version)};
  if (request.mode == peer_mode::page) all.emplace_back("-www");
  return all;
}

words gnutls_serv(const peer_request& request, const peer_files& files, std::uint16_t port) {
  return {"gnutls-serv",
          request.mode == peer_mode::page ? "--http" : "--echo",
          "--port=" + std::to_string(port),
          "--x509certfile=" + files.certificate,
          "--x509keyfile=" + files.key,
          "--x509cafile=" + trusted_by(request),
          gnutls_version(request.version)};
}

words s_client(const peer_request& request, std::uint16_t port) {
  return {"openssl",
          "s_client",
          "-brief",
          "-connect",
          "127.0.0.1:" + std::to_string(port),
          "-servername",
          "localhost",
          "-verify_hostname",
          "localhost",
          "-verify_return_error",
          "-CAfile",
          trusted_by(request),
          openssl_version(request.version)};
}

words gnutls_cli(const peer_request& request, std::uint16_t port) {
  return {"gnutls-cli",
          "--x509cafile=" + trusted_by(request),
          "--port=" + std::to_string(port),
          "--sni-hostname=localhost",
          "--verify-hostname=localhost",
          gnutls_version(request.version),
          "127.0.0.1"};
}

words curl(const peer_request& request, std::uint16_t port) {
  const std::string number = std::to_string(port);
  words all{"curl",        "--disable",
            "--silent",    "--show-error",
            "--no-buffer", "--http1.1",
            "--noproxy",   "*",
            "--cacert",    trusted_by(request),
            "--resolve",   "localhost:" + number + ":127.0.0.1",
            "--header",    "Expect:"};
  if (request.version == version::tls1_2) {
    all.insert(all.end(), {"--tls-max", "1.2"});
  } else {
    all.emplace_back("--tlsv1.3");
  }
  if (request.mode == peer_mode::talk) {
    all.insert(all.end(), {"--upload-file", request.file.empty() ? "." : request.file});
  }
  all.push_back("https://localhost:" + number + "/page");
  return all;
}

words command_of(const peer_request& request, std::uint16_t port) {
  const peer_files& files = peer_files::shared();
  words all;
  switch (request.kind) {
    case peer_kind::s_server: all = s_server(request, files); break;
    case peer_kind::gnutls_serv: all = gnutls_serv(request, files, port); break;
    case peer_kind::s_client: all = s_client(request, port); break;
    case peer_kind::gnutls_cli: all = gnutls_cli(request, port); break;
    case peer_kind::curl: all = curl(request, port); break;
  }
  // Behind the program and, of openssl, its command.
  const std::ptrdiff_t at = program_of(request.kind) == "openssl" ? 2 : 1;
  all.insert(all.begin() + at, request.more.begin(), request.more.end());
  return all;
}

/// The port that it has got. @returns 0: it has not said it
std::uint16_t port_of(peer_process& s_server) {
  const std::string port = s_server.rest_of_line("ACCEPT 127.0.0.1:");
  return port.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(std::stoul(port));
}

}  // namespace

std::string name_of(peer_kind kind) {
  switch (kind) {
    case peer_kind::s_server: return "s_server";
    case peer_kind::gnutls_serv: return "gnutls_serv";
    case peer_kind::s_client: return "s_client";
    case peer_kind::gnutls_cli: return "gnutls_cli";
    case peer_kind::curl: return "curl";
  }
  return {};
}

std::string name_of(version version) { return version == version::tls1_2 ? "tls1_2" : "tls1_3"; }

std::string program_of(peer_kind kind) {
  switch (kind) {
    case peer_kind::s_server:
    case peer_kind::s_client: return "openssl";
    case peer_kind::gnutls_serv: return "gnutls-serv";
    case peer_kind::gnutls_cli: return "gnutls-cli";
    case peer_kind::curl: return "curl";
  }
  return {};
}

const peer_files& peer_files::shared() {
  static const peer_files made;
  return made;
}

peer_files::peer_files()
    : authority(put_text("authority.pem", common_authority().certificate())),
      certificate(put_text("certificate.pem", common_identity().certificates)),
      key(put_text("key.pem", common_identity().key)) {
  issue_request request("a client");
  request.names.clear();
  request.is_client = true;
  const made_identity client = common_authority().issue(request);
  client_certificate = put_text("client_certificate.pem", client.certificates);
  client_key = put_text("client_key.pem", client.key);
}

std::string peer_files::fresh(std::string_view name) const { return folder() / name; }

namespace {

/// Whether it has got its port, on all addresses of IPv4. Somebody may have it on one that is not 127.0.0.1.
bool listens(peer_process& gnutls_serv, std::uint16_t port) {
  const std::string said =
      gnutls_serv.rest_of_line("listening on IPv4 0.0.0.0 port " + std::to_string(port) + "...");
  return said.starts_with("done");
}

}  // namespace

foreign_peer::foreign_peer(const peer_request& request, std::uint16_t port)
    : kind_(request.kind), port_(port) {
  if (kind_ != peer_kind::gnutls_serv) {
    process_.emplace(command_of(request, port_));
    if (kind_ == peer_kind::s_server) port_ = port_of(*process_);
    return;
  }
  std::vector<bound_socket> refused;  // kept, so that the next try gets another port
  for (int tries = 0; tries < 10; ++tries) {
    // Bound by two that do not listen, so the program is let in, and nobody else.
    held_ = bind_loopback_v4(true, port_);
    process_.emplace(command_of(request, port_));
    if (listens(*process_, port_)) break;
    process_.reset();
    refused.push_back(std::exchange(held_, no_bound_socket));
  }
  EXPECT_TRUE(process_.has_value()) << "gnutls-serv has got none of ten ports";
  for (const bound_socket each : refused) close_bound(each);
}

foreign_peer::~foreign_peer() {
  process_.reset();
  if (held_ != no_bound_socket) close_bound(held_);
}

}  // namespace tandem::test
