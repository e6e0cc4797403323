// asio.hpp: standalone Asio and tandem, both ways.
// SPDX-License-Identifier: MIT
//
// With Boost.Asio include <tandem/boost_asio.hpp> instead, or both. The only headers of tandem that
// include headers of another library; install what is used: libasio-dev, libboost-dev.
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

#define TANDEM_ASIO asio
#define TANDEM_ASIO_FLAVOUR standalone_asio
#define TANDEM_ASIO_ERROR asio
#include <tandem/asio/detail/flavour.ipp>
