// select_drops_bytes.cpp: a read into a buffer is no branch of a select; what waits without taking is.
// SPDX-License-Identifier: MIT
#include <array>
#include <tandem/event.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/select.hpp>

tandem::task<void> first(tandem::io::tcp_stream& stream, tandem::event& e) {
  std::array<std::byte, 16> room;
#ifdef TANDEM_CONTROL
  (void)stream;
  (void)room;
  (void)co_await tandem::select(e.wait(), tandem::otherwise);
#else
  (void)co_await tandem::select(e.wait(), stream.read(room));
#endif
}
