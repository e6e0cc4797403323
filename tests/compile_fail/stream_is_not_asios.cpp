// stream_is_not_asios.cpp: a stream of tandem goes to Asio's algorithms as an asio_stream only.
// SPDX-License-Identifier: MIT
#define ASIO_HAS_CO_AWAIT 1  // Asio 1.22 looks for the coroutines of a draft
#define ASIO_HAS_STD_COROUTINE 1

#include <string>
#include <utility>

#include <tandem/asio.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>

tandem::task<void> read_line(tandem::io::tcp_stream connection, std::string& line) {
#ifdef TANDEM_CONTROL
  auto stream = tandem::as_asio_stream(std::move(connection));
#else
  auto& stream = connection;
#endif
  co_await asio::async_read_until(stream, asio::dynamic_buffer(line), '\n', tandem::use_await);
}
