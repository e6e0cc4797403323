// asio.hpp: standalone Asio and tandem, both ways.
// SPDX-License-Identifier: MIT
//
// With Boost.Asio include <tandem/boost_asio.hpp> instead, or both. The only headers of tandem that
// include headers of another library; install what is used: libasio-dev, libboost-dev.
//
// What is where:
//   tandem/asio/use_await.hpp         co_await socket.async_read_some(buffer, tandem::use_await)
//   tandem/asio/asio_executor.hpp     asio_executor(runtime.workers()), for asio::post, co_spawn
//   tandem/asio/asio_stream.hpp       as_asio_stream(connection), for Asio's algorithms, Beast, TLS
//   tandem/asio/from_asio_stream.hpp  from_asio_stream(socket), a byte stream of tandem
//   tandem/asio/detail/flavour.ipp    spawn_into(runtime, io_context, task, token)
//
// With clang Asio 1.22 does not see by itself that there are coroutines: its awaitables need
// -DASIO_HAS_CO_AWAIT -DASIO_HAS_STD_COROUTINE.
#pragma once

#include <asio.hpp>
#include <system_error>
#include <utility>

#include <tandem/asio/asio_executor.hpp>
#include <tandem/asio/asio_stream.hpp>
#include <tandem/asio/detail/asio_awaiter.hpp>
#include <tandem/asio/detail/spawned_end.hpp>
#include <tandem/asio/from_asio_stream.hpp>
#include <tandem/asio/use_await.hpp>
#include <tandem/io/detail/system_code.hpp>

#define TANDEM_ASIO asio
#define TANDEM_ASIO_FLAVOUR standalone_asio
#define TANDEM_ASIO_ERROR asio
#include <tandem/asio/detail/flavour.ipp>
