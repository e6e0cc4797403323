// awaits_for_asio.cpp: what only Asio's coroutines can await is refused in a task of tandem, in words.
// SPDX-License-Identifier: MIT
#define ASIO_HAS_CO_AWAIT 1  // Asio 1.22 looks for the coroutines of a draft
#define ASIO_HAS_STD_COROUTINE 1

#include <tandem/asio.hpp>
#include <tandem/task.hpp>

tandem::task<void> pause(asio::steady_timer& timer) {
#ifdef TANDEM_CONTROL
  co_await timer.async_wait(tandem::use_await);
#else
  co_await timer.async_wait(asio::use_awaitable);
#endif
}
