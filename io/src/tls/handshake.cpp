// handshake.cpp: the two sides' beginnings. Protocol tls_handshake: io/src/tls/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/as_result.hpp>
#include <tandem/io/tls/handshake.hpp>
#include <tandem/resume_on.hpp>
#include <utility>

#include "operation/own_home.hpp"
#include "tls/generation.hpp"
#include "tls/session.hpp"
#include "tls/state.hpp"

namespace tandem::inline v0::io {

namespace detail {

task<void> tls_session::handshake() {
  executor& home = co_await own_home();
  executor& workers = *workers_;
  const tls_generation& options = engine_->options();
  const bool may_move = options.handshake_on == tls::handshake_home::workers && &home != &workers;
  if (may_move) engine_->pause_before_computing();
  const bool has_more_to_compute = options.is_server && options.checks_peer;
  bool is_away = false;
  while (true) {
    const tls_step step = engine_->handshake();  // nobody else has the session yet
    if (step == tls_step::computes) {
      co_await resume_on(workers);  // tls_handshake/pause
      is_away = true;
      continue;
    }
    if (step == tls_step::failed) {
      (void)co_await as_result(drain());  // the alert, if there is one
      std::rethrow_exception(engine_->failure());
    }
    co_await drain();  // tls_handshake/answer
    if (step == tls_step::done) co_return;
    if (is_away && !has_more_to_compute) {
      co_await resume_on(home);  // tls_handshake/return
      is_away = false;
      // After a hello that has to be said again the expensive part is still to come.
      engine_->pause_before_computing();
    }
    const std::size_t came = co_await below_.read(engine_->transport().room());
    engine_->transport().came(came);
  }
}

}  // namespace detail

namespace tls {

task<tls_stream> connect(any_stream stream, std::string name, client_context context) {
  auto session = std::make_shared<detail::tls_session>(std::move(stream));
  session->begin(context.state()->newest.get(), name, "tls::connect to " + name);
  co_await session->handshake();
  co_return tls_stream(std::move(session));
}

task<tls_stream> accept(any_stream stream, server_context context) {
  auto session = std::make_shared<detail::tls_session>(std::move(stream));
  session->begin(context.state()->newest.get(), {}, "tls::accept");
  co_await session->handshake();
  co_return tls_stream(std::move(session));
}

}  // namespace tls
}  // namespace tandem::inline v0::io
