// io.hpp: every public header of the I/O.
// SPDX-License-Identifier: MIT
//
// But for those that show somebody else's library (Asio): they need its headers. As for the
// runtime's, tandem.hpp, a test checks that none is missing.
//
//     #include <tandem/io/io.hpp>
//     tandem::task<void> greet(tandem::io::tcp_stream stream) {
//       co_await stream.write_all(tandem::io::bytes_of("hello"));
//     }
#pragma once

#include <tandem/io/aligned_buffer.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/any_stream_awaiters.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/io/buffers_in_flight.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/completion_growth.hpp>
#include <tandem/io/completion_options.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/completion_thread.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/copy_both.hpp>
#include <tandem/io/directory.hpp>
#include <tandem/io/directory_entry.hpp>
#include <tandem/io/directory_reader.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/file_access.hpp>
#include <tandem/io/file_awaiters.hpp>
#include <tandem/io/file_change.hpp>
#include <tandem/io/file_lock.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/file_status.hpp>
#include <tandem/io/file_watch.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/io/happy_eyeballs.hpp>
#include <tandem/io/incoming_awaiter.hpp>
#include <tandem/io/inherited_sockets.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/leased_buffer.hpp>
#include <tandem/io/listener.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/open_options.hpp>
#include <tandem/io/outgoing_datagram.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/path_awaiters.hpp>
#include <tandem/io/path_options.hpp>
#include <tandem/io/peer_credentials.hpp>
#include <tandem/io/pipe.hpp>
#include <tandem/io/process.hpp>
#include <tandem/io/process_exit.hpp>
#include <tandem/io/process_options.hpp>
#include <tandem/io/process_start_error.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/ready_events.hpp>
#include <tandem/io/receive_awaiter.hpp>
#include <tandem/io/received_datagram.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/serve_options.hpp>
#include <tandem/io/shared_awaiters.hpp>
#include <tandem/io/shared_streams.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/socket_stream.hpp>
#include <tandem/io/splice_pipe.hpp>
#include <tandem/io/system_name.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_options.hpp>
#include <tandem/io/tcp_statistics.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/terminal.hpp>
#include <tandem/io/udp_awaiters.hpp>
#include <tandem/io/udp_options.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/io/unix_listener.hpp>
#include <tandem/io/unix_message.hpp>
#include <tandem/io/unix_seqpacket.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/io/walk_batch.hpp>
#include <tandem/io/walk_options.hpp>
#include <tandem/io/write_file.hpp>
