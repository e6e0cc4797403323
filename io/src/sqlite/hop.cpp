// hop.cpp: a call between its begin and its end on a connection.
// SPDX-License-Identifier: MIT
#include "sqlite/hop.hpp"

#include <tandem/blocking.hpp>
#include <tandem/context.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <utility>

#include "sqlite/stop_watch.hpp"

namespace tandem::inline v0::io::sqlite::detail {

namespace {

/// Whatever a call leaves behind is undone.
class left_clean {
 public:
  explicit left_clean(connection& on) noexcept : on_(on) {}
  left_clean(const left_clean&) = delete;
  left_clean& operator=(const left_clean&) = delete;
  ~left_clean() {
    on_.accept(connection::accepts::all);
    if (!is_kept) on_.roll_back();
  }
  bool is_kept = false;  // the transaction goes on beyond this call

 private:
  connection& on_;
};

void run_one(connection& on, call_ref call) {
  session given(on);
  call(given);
  if (on.is_in_transaction()) {
    throw error(errc::misuse,
                "a single statement has left a transaction open, which is rolled back; "
                "with_transaction() and write() are for those");
  }
}

void run_inside(connection& on, call_ref call) {
  if (!on.is_in_transaction()) {
    throw error(
        errc::transaction_ended,
        "the transaction has ended before: by a statement of its own, or SQLite had to undo it");
  }
  session given(on);
  call(given);
}

void run_whole(connection& on, access how, call_ref call) {
  if (how == access::snapshot) {
    on.accept(connection::accepts::reads);
    on.begin_reading();
  } else {
    on.begin_writing();
  }
  session given(on);
  call(given);
  on.commit();
}

}  // namespace

bool run_on(connection& on, access how, call_ref call) {
  const stop_watch watch(on);
  left_clean end(on);
  try {
    switch (how) {
      case access::one_read: on.accept(connection::accepts::reads_or_reroutes); [[fallthrough]];
      case access::one_write:
      case access::copy: run_one(on, call); break;
      case access::snapshot:
      case access::change: run_whole(on, how, call); break;
      case access::inside:
        end.is_kept = true;
        run_inside(on, call);
        break;
    }
  } catch (const needs_writer&) {  // sqlite_calls/reroute
    return false;
  }
  return true;
}

task<bool> hop(connection& on, access how, call_ref call) {
  auto work = [&on, how, call] { return run_on(on, how, call); };
  co_return co_await blocking(work);
}

// sqlite_calls/mark
task<bool> hop_below(call_marks mark, connection& on, access how, call_ref call) {
  auto marked = with_context(marks(), std::move(mark), hop(on, how, call));
  co_return co_await std::move(marked);
}

}  // namespace tandem::inline v0::io::sqlite::detail
