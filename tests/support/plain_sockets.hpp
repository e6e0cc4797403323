// plain_sockets.hpp: sockets by the system's own calls, as libraries that are not tandem have them; linux/ and windows/.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <vector>

namespace tandem::test {

using plain_socket = io::native_descriptor;

enum class socket_kind : std::uint8_t { stream_v4, datagram_v4, datagram_v6 };

/// Unbound; whoever is started does not inherit it.
plain_socket open_plain(socket_kind kind, bool blocks = true);
void close_plain(plain_socket closed) noexcept;
/// Two connected streams.
std::array<plain_socket, 2> connected_plain(bool blocks = false);
/// Bound to a port of loopback of its own. @param port  which one
plain_socket bound_plain(socket_kind kind, std::uint16_t& port);
/// A stream that listens at a port of 127.0.0.1 of its own.
plain_socket listening_plain(std::uint16_t& port, int backlog = 16);

/// To that port of 127.0.0.1, or of another address of loopback. @returns none if it is connected, else what the system says
std::errc connect_plain(plain_socket stream, std::uint16_t port,
                        std::uint32_t address = 0x7F000001) noexcept;
/// @returns  no_descriptor if there is none
plain_socket accept_plain(plain_socket listener) noexcept;

/// What they return is a count of bytes; negative: see last_plain_error(). No signal comes of it.
std::ptrdiff_t send_plain(plain_socket to, const void* bytes, std::size_t count) noexcept;
std::ptrdiff_t send_plain(plain_socket to, std::uint16_t port, const void* bytes,
                          std::size_t count) noexcept;
std::ptrdiff_t receive_plain(plain_socket from, void* room, std::size_t bytes) noexcept;
/// Of the calling thread's last call.
std::errc last_plain_error() noexcept;
/// Sends by a stream that does not block until it takes no more. @returns how many bytes
std::ptrdiff_t fill_plain(plain_socket stream);
/// Takes so many bytes of a stream that does not block, unless it ends before. Those that are on their
/// way are waited for: over TCP they would fill again what has been emptied.
void drain_plain(plain_socket stream, std::ptrdiff_t bytes);

/// The number of the interface that leads to this machine only.
std::uint32_t loopback_index() noexcept;
bool is_open_plain(plain_socket number) noexcept;
/// What the system tells of it, to be compared with what it told before; -1: it is not open.
int flags_of_plain(plain_socket number) noexcept;
bool is_inherited_plain(plain_socket number) noexcept;
void inherit_plain(plain_socket number) noexcept;
void set_blocking(plain_socket socket, bool blocks) noexcept;
/// As sockets of tandem are, which block on Linux and do not on Windows.
void make_like_ours(plain_socket socket) noexcept;
/// How many bytes have come.
std::size_t bytes_to_read(plain_socket socket) noexcept;
void end_writing(plain_socket stream) noexcept;
void end_reading(plain_socket stream) noexcept;
/// Its close will be a reset.
void reset_at_close(plain_socket stream) noexcept;
void send_at_once(plain_socket stream) noexcept;
/// Another number of the same socket.
plain_socket duplicate_plain(plain_socket socket) noexcept;
/// Gives a socket that number, which is nobody's; its old one is closed.
/// @returns whether the system has done so
bool renumber_plain(plain_socket socket, plain_socket number) noexcept;

/// Both ends of a pipe, which is no socket; close_other() closes each.
std::array<plain_socket, 2> plain_pipe();
/// What takes all and has nothing.
plain_socket open_nothing();
void close_other(plain_socket closed) noexcept;

/// Waits for any of them to be readable, or to have ended.
/// @param limit_us  so long at most; -1: for ever
/// @returns         for each whether it is
std::vector<bool> wait_readable(const std::vector<plain_socket>& all, long limit_us);

}  // namespace tandem::test
