// shared_stream.hpp: what a shared_input or shared_output has of its descriptor.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/file_handle.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

/// A descriptor that can be waited for, in a socket of a completion thread; or a file.
class TANDEM_IO_API shared_stream {
 public:
  shared_stream() noexcept = default;
  explicit shared_stream(socket&& made) noexcept : socket_(std::move(made)) {}
  explicit shared_stream(file_handle&& made) noexcept : file_(std::move(made)) {}

  bool is_file() const noexcept { return file_.is_open(); }
  bool is_open() const noexcept { return socket_.is_open() || file_.is_open(); }
  native_descriptor descriptor() const noexcept {
    return is_file() ? file_.descriptor() : socket_.descriptor();
  }
  void close() noexcept {
    socket_.close();
    file_.close();
  }

  /// Both are there; one is open.
  socket& as_socket() noexcept { return socket_; }
  file_handle& as_file() noexcept { return file_; }

 private:
  socket socket_;
  file_handle file_;
};

}  // namespace tandem::inline v0::io::detail
