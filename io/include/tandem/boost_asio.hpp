// boost_asio.hpp: Boost.Asio and tandem, both ways.
// SPDX-License-Identifier: MIT
//
// With standalone Asio include <tandem/asio.hpp> instead, or both. The only headers of tandem that
// include headers of another library; install what is used: libasio-dev, libboost-dev.
//
// What is where:
//   tandem/asio/use_await.hpp         co_await socket.async_read_some(buffer, tandem::use_await)
//   tandem/asio/asio_executor.hpp     asio_executor(runtime.workers()), for Asio's post, co_spawn
//   tandem/asio/asio_stream.hpp       as_asio_stream(connection), for Asio's algorithms, Beast, TLS
//   tandem/asio/from_asio_stream.hpp  from_asio_stream(socket), a byte stream of tandem
//   tandem/asio/detail/flavour.ipp    spawn_into(runtime, io_context, task, token)
#pragma once

#include <boost/asio.hpp>
#include <system_error>
#include <utility>

#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/asio_stream.hpp>
#include <tandem/asio/detail/asio_awaiter.hpp>
#include <tandem/asio/detail/spawned_end.hpp>
#include <tandem/asio/from_asio_stream.hpp>
#include <tandem/asio/use_await.hpp>
#include <tandem/io/detail/system_code.hpp>

#define TANDEM_ASIO boost::asio
#define TANDEM_ASIO_FLAVOUR boost_asio
#define TANDEM_ASIO_ERROR boost::system
#include <tandem/asio/detail/flavour.ipp>

namespace tandem::inline v0::detail {

template <>
struct role_flavour<::boost::beast::role_type> {
  using type = boost_asio;
};

}  // namespace tandem::inline v0::detail
