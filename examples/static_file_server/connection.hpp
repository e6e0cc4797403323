// connection.hpp: one client of static_file_server: reads requests, sends files.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <tandem/io/file.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "file_body.hpp"
#include "http.hpp"

namespace files {

/// What all connections share.
class file_service {
 public:
  file_service(tandem::io::file below, std::chrono::milliseconds limit)
      : root(std::move(below)), idle_time(limit) {}

  tandem::io::file root;  ///< the folder
  const std::chrono::milliseconds idle_time;
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> bytes{0};  ///< of bodies
  tandem::io::serve_counts connections;
};

/// Its home is the completion thread of its socket: nothing of it is locked.
class connection {
 public:
  connection(tandem::io::tcp_stream stream, std::stop_token draining, file_service& service)
      : stream_(std::move(stream)), draining_(std::move(draining)), service_(service) {}

  /// Until the client leaves, is silent for too long, or the server drains; a request that has come
  /// is answered.
  tandem::task<void> run();
  /// For a client too many: says so, and when to come again.
  tandem::task<void> turn_away();

 private:
  tandem::task<bool> receive_more();
  tandem::task<void> take_leave();
  tandem::task<void> answer(const http_request& request, bool keep_alive);
  tandem::task<void> send_part(file_body file, byte_range part);
  tandem::task<void> refuse(unsigned status, bool keep_alive, bool is_head,
                            std::string_view more = {});
  tandem::task<void> write(std::string text);

  tandem::io::tcp_stream stream_;
  std::stop_token draining_;
  file_service& service_;
  std::string input_;  // received, and no request yet
};

}  // namespace files
