// receiver.hpp: takes a file that comes over UDP, in whatever order.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/task.hpp>
#include <vector>

#include "segment.hpp"

namespace transfer {

/// One file, of the first sender that comes.
class receiver {
 public:
  /// @param most_bytes  an offer of more is not taken, since anybody may make one: it costs a bit of
  ///                    memory for each segment
  receiver(tandem::io::udp_socket socket, std::string path, std::uint64_t most_bytes)
      : socket_(std::move(socket)), path_(std::move(path)), most_bytes_(most_bytes) {}

  /// Until all has come and been told: the last acknowledgement may be lost, so the sender is
  /// answered until it says farewell, or has been quiet for `linger`.
  ///
  /// @returns  the file's size
  /// @throws   what the file and the socket throw
  tandem::task<std::uint64_t> run(std::chrono::milliseconds linger);

 private:
  tandem::task<void> begin(const header& first, const tandem::io::endpoint& from);
  tandem::task<void> keep(const tandem::io::received_datagram& got);
  tandem::task<void> answer();
  /// Of neighbours, which go to the file by one call.
  tandem::task<void> write(std::uint32_t first, std::span<const std::span<const std::byte>> parts);
  /// Of a file that would be the first one.
  bool may_begin(std::uint64_t file_bytes);
  bool is_new(std::uint32_t number, std::size_t length) const;
  bool is_whole() const { return transfer_ && missing_ == come_.size(); }

  tandem::io::udp_socket socket_;
  std::string path_;
  const std::uint64_t most_bytes_;
  bool has_refused_ = false;
  tandem::io::file file_;
  std::optional<std::uint32_t> transfer_;
  tandem::io::endpoint sender_;
  std::uint64_t file_bytes_ = 0;
  std::vector<bool> come_;
  std::uint32_t missing_ = 0;  // the first that has not come
};

}  // namespace transfer
