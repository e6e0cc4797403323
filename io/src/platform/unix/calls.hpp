// calls.hpp: the calls that Linux has in one step, and other systems in several.
// SPDX-License-Identifier: MIT
//
// Each system's folder has a header of this name, with the same functions, inline:
//     int open_socket(int family, int type, int protocol)   not inherited across exec
//     int accept_connection(int listener)                    likewise, and blocking
//     int open_pipe(int (&ends)[2])                          likewise
//     int open_socket_pair(int type, int* ends)              likewise, of Unix sockets
//     ssize_t receive_message(int socket, msghdr& message)   descriptors that come along:
//     void keep_from_exec(int descriptor)                    of each of those
//     ssize_t send_bytes(int socket, const void* data, std::size_t bytes)
//     ssize_t send_message(int socket, const msghdr& message, bool more_follows)
//     int receive_messages(int socket, numbered_message* messages, unsigned count)   how many came
//     int send_messages(int socket, numbered_message* messages, unsigned count)      how many went
//     void keep_from_signals(int socket)                     of a socket that was not made here
//     constexpr int folder_access                            to look up names in a folder
// They answer as the system's calls do, with -1 and errno. Those that send never wait, and no
// signal comes of them.
#pragma once

#if defined(TANDEM_PLATFORM_POSIX)
#include "platform/posix/calls.hpp"
#else
#include "platform/linux/calls.hpp"
#endif
