// beast_support.hpp: Beast over streams of tandem, plain and with TLS.
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include "io/interop/tls_support.hpp"

namespace tandem::test {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

using plain_websocket = websocket::stream<plain_stream>;
using tls_websocket = websocket::stream<tls_stream>;

}  // namespace tandem::test
