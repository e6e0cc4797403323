// libuv_echo.cpp: the echo server of suite io over libuv. io_libuv PORT 1; a loop has one thread.
// SPDX-License-Identifier: MIT
//
// As in libuv's docs/code/tcp-echo-server, but the answer is tried at once (uv_try_write, what its
// guide names for small writes), and a buffer is not allocated for each read.
#include <uv.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "../io/command_line.hpp"

namespace {

struct client {
  uv_tcp_t handle;
  std::array<char, 4096> data;
};

struct pending_write {
  uv_write_t request;
  std::array<char, 4096> data;
};

void close_client(uv_handle_t* handle) { delete static_cast<client*>(handle->data); }

void on_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
  auto& data = static_cast<client*>(handle->data)->data;
  *buffer = uv_buf_init(data.data(), static_cast<unsigned>(data.size()));
}

void on_written(uv_write_t* request, int) { delete static_cast<pending_write*>(request->data); }

void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  if (count < 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(stream), close_client);
    return;
  }
  uv_buf_t answer = uv_buf_init(buffer->base, static_cast<unsigned>(count));
  const int sent = uv_try_write(stream, &answer, 1);
  if (sent == count) return;
  const std::size_t done = sent < 0 ? 0 : static_cast<std::size_t>(sent);
  auto* const rest = new pending_write;
  rest->request.data = rest;
  const std::size_t length = static_cast<std::size_t>(count) - done;
  std::memcpy(rest->data.data(), buffer->base + done, length);
  uv_buf_t later = uv_buf_init(rest->data.data(), static_cast<unsigned>(length));
  uv_write(&rest->request, stream, &later, 1, on_written);
}

void on_connection(uv_stream_t* server, int status) {
  if (status < 0) return;
  auto* const one = new client;
  uv_tcp_init(server->loop, &one->handle);
  one->handle.data = one;
  auto* const stream = reinterpret_cast<uv_stream_t*>(&one->handle);
  if (uv_accept(server, stream) == 0) {
    uv_tcp_nodelay(&one->handle, 1);
    uv_read_start(stream, on_buffer, on_read);
  } else {
    uv_close(reinterpret_cast<uv_handle_t*>(stream), close_client);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tandem::bench::server_command command(argc, argv);
  uv_loop_t* const loop = uv_default_loop();
  uv_tcp_t server;
  uv_tcp_init(loop, &server);
  sockaddr_in address;
  uv_ip4_addr("127.0.0.1", command.port, &address);
  uv_tcp_bind(&server, reinterpret_cast<const sockaddr*>(&address), 0);
  if (uv_listen(reinterpret_cast<uv_stream_t*>(&server), 1024, on_connection) != 0) return 1;
  return uv_run(loop, UV_RUN_DEFAULT);
}
