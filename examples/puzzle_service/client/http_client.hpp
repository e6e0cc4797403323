// http_client.hpp: a small HTTP/1.1 client on tandem: as much as a client of puzzle_service needs.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <tandem/io/endpoint.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>

namespace client {

class answer {
 public:
  answer() = default;

  int status = 0;
  std::string body;
};

/// One connection that is kept open. Requests may be sent ahead of their answers (pipelining).
class http_client {
 public:
  explicit http_client(tandem::io::tcp_stream stream) : stream_(std::move(stream)) {}

  static tandem::task<http_client> connect(tandem::io::endpoint server);

  /// @throws              std::system_error
  tandem::task<void> send(std::string requests);
  /// The answer to the first request that has none yet. Its length has to be given by
  /// Content-Length.
  ///
  /// @throws              std::system_error; std::runtime_error: the connection ended, or no HTTP
  ///                      came
  tandem::task<answer> receive();

 private:
  tandem::task<void> read_more();

  tandem::io::tcp_stream stream_;
  std::string received_;
};

std::string get_request(std::string_view path);
/// For an answer that is not one from before: it is measured.
std::string post_request(std::string_view path, std::string_view json);

}  // namespace client
