// asio_flavour.hpp: `net`, the one or the other of Asio's namespaces, and threads that run its contexts.
// SPDX-License-Identifier: MIT
//
// The tests of this folder are compiled twice: TANDEM_TEST_BOOST_ASIO makes Boost's of them.
#pragma once

// Asio 1.22 looks for the coroutines of a draft where clang has those of the standard.
#if defined(__clang__)
#define ASIO_HAS_CO_AWAIT 1
#define ASIO_HAS_STD_COROUTINE 1
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif

#if defined(TANDEM_TEST_BOOST_ASIO)
#include <boost/asio.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <tandem/boost_asio.hpp>
namespace net = boost::asio;
namespace net_error = boost::system;
#else
#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <tandem/asio.hpp>
namespace net = asio;
namespace net_error = asio;
#endif

// windows.h has macros of these names.
#undef near
#undef far

#include <cstddef>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::test {

using net_code = net_error::error_code;

inline std::error_code std_code(net_code code) { return code; }
inline std::error_code aborted() { return net_code(net::error::operation_aborted); }

/// An io_context that threads run until this goes; what is under way then is waited for.
class running_context {
 public:
  explicit running_context(int threads = 1, int hint = -1)
      : context_(hint), work_(context_.get_executor()) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { context_.run(); });
  }
  running_context(const running_context&) = delete;
  running_context& operator=(const running_context&) = delete;
  ~running_context() {
    work_.reset();
    for (auto& each : threads_) each.join();
  }
  net::io_context& operator*() noexcept { return context_; }
  net::io_context* operator->() noexcept { return &context_; }

 private:
  net::io_context context_;
  net::executor_work_guard<net::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

/// What starts an operation of an object with that executor: hands the handler to a function.
template <class Executor, class Start>
class started_at {
 public:
  using executor_type = Executor;
  started_at(const Executor& at, Start start) : at_(at), start_(std::move(start)) {}
  executor_type get_executor() const noexcept { return at_; }
  template <class Handler>
  void operator()(Handler&& handler) {
    start_(std::forward<Handler>(handler));
  }

 private:
  Executor at_;
  Start start_;
};

/// An operation that does with its handler what the test says. By reference: g++ 12 copies temporary
/// lambdas of a co_await expression bitwise where they are passed by value.
template <class Signature, class Executor, class Start, class Token>
auto operation_at(const Executor& at, Start&& start, const Token& given) {
  Token token(given);
  return net::async_initiate<Token, Signature>(
      started_at<Executor, std::decay_t<Start>>(at, std::forward<Start>(start)), token);
}
template <class Signature, class Executor, class Start>
auto operation_at(const Executor& at, Start&& start) {
  return operation_at<Signature>(at, std::forward<Start>(start), tandem::use_await);
}
/// Of no object that could be found.
template <class Start>
class started {
 public:
  explicit started(Start start) : start_(std::move(start)) {}
  template <class Handler>
  void operator()(Handler&& handler) {
    start_(std::forward<Handler>(handler));
  }

 private:
  Start start_;
};
template <class Signature, class Start>
auto operation(Start&& start) {
  tandem::use_await_t token;
  return net::async_initiate<tandem::use_await_t, Signature>(
      started<std::decay_t<Start>>(std::forward<Start>(start)), token);
}

/// Both ends of a local connection; of loopback where no call makes a pair. And what a write to a
/// peer that has gone fails with.
#if !defined(ASIO_WINDOWS) && !defined(BOOST_ASIO_WINDOWS)
using local_socket = net::local::stream_protocol::socket;
using net::local::connect_pair;
inline bool says_nobody_is_there(std::error_code code) {
  return code == std_code(net::error::broken_pipe);
}
#else
inline bool says_nobody_is_there(std::error_code code) {
  return code == std_code(net::error::connection_reset) ||
         code == std_code(net::error::connection_aborted);
}
using local_socket = net::ip::tcp::socket;
inline void connect_pair(local_socket& near, local_socket& far) {
  net::io_context context;
  const net::ip::tcp::endpoint any_port(net::ip::address_v4::loopback(), 0);
  net::ip::tcp::acceptor listener(context, any_port);
  near.connect(listener.local_endpoint());
  listener.accept(far);
  for (local_socket* each : {&near, &far}) each->set_option(net::ip::tcp::no_delay(true));
}
#endif
class local_pair {
 public:
  template <class Executor>
  explicit local_pair(const Executor& at) : near(at), far(at) {
    connect_pair(near, far);
  }
  local_socket near;
  local_socket far;
};

}  // namespace tandem::test
