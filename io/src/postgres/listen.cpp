// listen.cpp: what NOTIFY tells. Protocol postgres_listen: README.md.
// SPDX-License-Identifier: MIT
#include <memory>
#include <tandem/io/readiness.hpp>

#include "postgres/session.hpp"

namespace tandem::inline v0::io::postgres::detail {

namespace {

struct notify_freed {
  void operator()(PGnotify* of) const noexcept { PQfreemem(of); }
};

}  // namespace

task<notification> session::next_notification() {
  const mutex_guard turn = co_await turn_.scoped_lock();
  if (has_leftover()) co_await clean_up();
  check(0);
  bool is_lost = false;
  while (true) {
    // Those that came with answers of statements are here already.
    const std::unique_ptr<PGnotify, notify_freed> told(PQnotifies(conn_));
    if (told != nullptr) co_return notification(told->relname, told->extra, told->be_pid);
    if (is_lost) {
      begin_answers();
      fail_lost();
    }
    co_await io::readable(PQsocket(conn_));  // postgres_listen/wait
    is_lost = PQconsumeInput(conn_) == 0 || PQstatus(conn_) != CONNECTION_OK;
  }
}

}  // namespace tandem::inline v0::io::postgres::detail
