// session.cpp: a session as its users see it.
// SPDX-License-Identifier: MIT
#include <exception>
#include <stdexcept>
#include <tandem/finally.hpp>
#include <tandem/io/curl/session.hpp>
#include <tandem/shielded.hpp>
#include <utility>

#include "curl/session_core.hpp"

namespace tandem::inline v0::io::curl {

session::session(foreign_loop& loop, session_options options)
    : core_(std::make_shared<session_core>(loop, std::move(options))) {}
session::~session() { core_->shut(); }

task<response> session::get(std::string url) {
  return session_core::collect(core_, request(std::move(url)));
}

task<response> session::send(request what) {
  if (what.sink() && what.on_body) {
    throw std::invalid_argument("curl: a body goes to body_to() or to on_body, not to both");
  }
  if (what.source() || what.sink()) return session_core::stream(core_, std::move(what));
  return session_core::collect(core_, std::move(what));
}

task<transfer> session::open(request what) { return session_core::open(core_, std::move(what)); }

tandem::executor& session::executor() noexcept { return core_->home(); }
session_stats session::stats() const noexcept { return core_->stats(); }
task<void> session::begin() { return core_->begin(); }
task<void> session::serve() { return core_->serve(); }
void session::stop_serving() noexcept { core_->stop_serving(); }
task<void> session::end() { return core_->end(); }

namespace detail {

task<void> run_server(session& served) { co_await shielded(served.serve()); }
task<void> end_session(session& ended, bool body_failed) {
  std::exception_ptr failure;
  try {
    co_await shielded(ended.end());
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure != nullptr) tandem::detail::conclude_clean_up(body_failed, std::move(failure));
}

}  // namespace detail

}  // namespace tandem::inline v0::io::curl
