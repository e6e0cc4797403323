#!/usr/bin/env python3
"""derive_example.py NAME FOLDER OUTPUT: an example program of Beast or Asio, as installed, made to use streams of tandem.
SPDX-License-Identifier: MIT

FOLDER is where the package has its examples. What is changed is listed here, each with how often it has to be found: a
package whose example has changed stops the build, and nothing of it is copied into the project.
"""
import pathlib
import sys

WEBSOCKET_SERVER = [
    # The connection that Asio has accepted is tandem's from then on.
    ("websocket::stream<beast::tcp_stream> ws_;", "websocket::stream<on_tandem::stream> ws_;", 1),
    (": ws_(std::move(socket))", ": ws_(on_tandem::adopt(std::move(socket)))", 1),
]
HTTP_SERVER = [
    ("    beast::tcp_stream stream_;", "    on_tandem::stream stream_;", 1),
    (": stream_(std::move(socket))", ": stream_(on_tandem::adopt(std::move(socket)))", 1),
    # Time limits are beast::tcp_stream's own.
    ("stream_.expires_after(std::chrono::seconds(30));", "", 1),
    ("stream_.socket().shutdown(tcp::socket::shutdown_send, ec);", "stream_.shutdown();", 1),
]
TLS_SERVER = [
    ("asio::ssl::stream<tcp::socket>", "asio::ssl::stream<on_tandem::stream>", 3),
    ("std::move(socket), context_", "on_tandem::adopt(std::move(socket)), context_", 1),
]
HTTP_CLIENT = [
    # A stream of tandem is connected when it is made, and has no token of its own.
    ("    auto stream = net::use_awaitable.as_default_on(beast::tcp_stream(co_await net::this_coro::executor));\n", "", 1),
    ("co_await stream.async_connect(results);", "auto stream = on_tandem::connect(results);", 1),
    ("    stream.expires_after(std::chrono::seconds(30));\n", "", 2),
    ("http::async_write(stream, req)", "http::async_write(stream, req, net::use_awaitable)", 1),
    ("http::async_read(stream, b, res)", "http::async_read(stream, b, res, net::use_awaitable)", 1),
    ("stream.socket().shutdown(tcp::socket::shutdown_both, ec);", "stream.shutdown();", 1),
]
EXAMPLES = {
    "websocket_server_async": ("websocket/server/async/websocket_server_async.cpp", WEBSOCKET_SERVER),
    "http_server_async": ("http/server/async/http_server_async.cpp", HTTP_SERVER),
    "tls_server": ("cpp11/ssl/server.cpp", TLS_SERVER),
    "http_client_awaitable": ("http/client/awaitable/http_client_awaitable.cpp", HTTP_CLIENT),
}


def main():
    name, folder, output = sys.argv[1:]
    path, changes = EXAMPLES[name]
    source = pathlib.Path(folder, path)
    text = source.read_text()
    for old, new, times in changes:
        if text.count(old) != times:
            sys.exit(f"derive_example.py: {source} has {text.count(old)} of {old!r} instead of {times}: "
                     f"another version of the package? Its example has to be looked at, and this list with it.")
        text = text.replace(old, new)
    pathlib.Path(output).write_text(text)


main()
