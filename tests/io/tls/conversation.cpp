// conversation.cpp: how the two come together, and what they say.
// SPDX-License-Identifier: MIT
#include "io/tls/conversation.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

namespace tandem::test {

namespace {

/// So that a write is stuck soon when the wire keeps back.
io::tcp_options small_buffers() {
  io::tcp_options options;
  options.send_buffer_bytes = 64 * 1024;
  options.no_delay = true;
  return options;
}

task<io::any_stream> connect_to(std::uint16_t port) {
  co_return co_await io::tcp_stream::connect(io::endpoint::loopback_v4(port), small_buffers());
}

task<io::any_stream> accept_of(io::tcp_listener& listener) { co_return co_await listener.accept(); }

task<void> write_text(io::tls_stream& stream, std::string_view text) {
  co_await stream.write_all(bytes_of(text));
}

}  // namespace

tls::client_options client_of(tls::version version, const our_side& ours) {
  tls::client_options options = trusting();
  options.minimum_version = options.maximum_version = version;
  options.protocols = ours.protocols;
  const peer_files& files = peer_files::shared();
  if (ours.shows_certificate) {
    options.certificate.emplace_back(tls::pem::file(files.client_certificate),
                                     tls::pem::file(files.client_key));
  }
  return options;
}

tls::server_options server_of(tls::version version, const our_side& ours) {
  tls::server_options options = served_by();
  options.minimum_version = options.maximum_version = version;
  options.protocols = ours.protocols;
  options.from_clients = ours.from_clients;
  if (ours.from_clients != tls::client_certificates::ignored) {
    options.trusted.push_back(tls::pem::text(common_authority().certificate()));
  }
  return options;
}

std::string numbered(std::size_t first_byte, std::size_t count) {
  std::string all;
  std::size_t number = first_byte / 8;
  const std::size_t skipped = first_byte % 8;
  while (all.size() < skipped + count) {
    std::array<char, 16> room{};
    std::snprintf(room.data(), room.size(), "%07zu", number);
    all += room.data();
    all += ++number % 64 == 0 ? '\n' : ' ';
  }
  return all.substr(skipped, count);
}

task<std::string> read_until(io::tls_stream& stream, std::string text) {
  std::string all;
  std::vector<std::byte> room(16 * 1024);
  for (std::size_t from = 0; all.find(text, from) == std::string::npos;) {
    from = all.size() - std::min(all.size(), text.size());
    const std::size_t got = co_await stream.read(room);
    if (got == 0) break;
    all.append(reinterpret_cast<const char*>(room.data()), got);  // NOLINT
  }
  co_return all;
}

task<result<std::size_t>> read_some(io::tls_stream& stream) {
  std::array<std::byte, 4096> room;
  co_return co_await as_result(stream.read(room));
}

task<result<std::size_t>> write_some(io::tls_stream& stream, std::string_view text) {
  co_return co_await as_result(stream.write(bytes_of(text)));
}

conversation::conversation(const peer_request& request, const our_side& ours)
    : request_(request), pool_(io::install(*rt_, steady_threads())) {
  if (is_server(request_.kind)) {
    client_.emplace(client_of(request_.version, ours));
  } else {
    server_.emplace(server_of(request_.version, ours));
    io::listen_options listening;
    listening.connections = small_buffers();
    listener_ = io::tcp_listener::bind(pool_, io::endpoint::loopback_v4(0), listening);
  }
  start_peer();
}

void conversation::start_peer() {
  if (is_server(request_.kind)) {
    if (!peer_) peer_.emplace(request_);
    wire_.emplace(wire_end::ours, peer_->port());
  } else {
    wire_.emplace(wire_end::peers, listener_.local_endpoint().port());
    peer_.emplace(request_, wire_->port());
  }
}

void conversation::open_again(std::vector<std::string> more) {
  stream_.close();
  request_.more.insert(request_.more.end(), more.begin(), more.end());
  start_peer();
  open();
}

io::any_stream conversation::connect() {
  return run(is_server(request_.kind) ? connect_to(wire_->port()) : accept_of(listener_));
}

task<io::tls_stream> conversation::handshake(io::any_stream below) {
  if (is_server(request_.kind)) return tls::connect(std::move(below), "localhost", *client_);
  return tls::accept(std::move(below), *server_);
}

void conversation::open() {
  start();
  if (request_.kind == peer_kind::curl) {
    run(read_until(stream_, "\r\n\r\n"));
    if (request_.mode == peer_mode::talk) we_say("HTTP/1.1 200 OK\r\n\r\n");
  }
  if (request_.mode == peer_mode::talk) talk("hello");
}

void conversation::we_say(std::string_view text) { run(write_text(stream_, text)); }

void conversation::we_say_and_it_hears(std::string_view text) {
  we_say(text);
  peer_->prints(text);
}

std::string conversation::it_says(std::string_view text) {
  if (peer_->echoes()) {
    we_say(text);
  } else {
    peer_->say(text);
  }
  std::string heard = run(read_until(stream_, std::string(text)));
  EXPECT_NE(heard.find(text), std::string::npos) << "it ended before it said " << text;
  return heard;
}

void conversation::talk(std::string_view text) {
  const std::string there = "1 " + std::string(text) + " there\n";
  const std::string back = "2 " + std::string(text) + " back\n";
  we_say_and_it_hears(there);
  if (peer_->echoes()) run(read_until(stream_, there));
  it_says(back);
}

}  // namespace tandem::test
