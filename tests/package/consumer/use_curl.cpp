// use_curl.cpp: a user's program on tandem::io_curl: a request that nobody takes.
// SPDX-License-Identifier: MIT
//
// An exception of the library's own type crosses its border.
#include <cstdio>
#include <tandem/io/curl.hpp>
#include <tandem/run.hpp>
#include <tandem/task.hpp>

namespace curl = tandem::io::curl;

namespace {

tandem::task<bool> ask(curl::session& session) {
  try {
    (void)co_await session.get("http://127.0.0.1:1/");
  } catch (const curl::error& failure) {
    co_return failure.code() == curl::errc::could_not_connect && !failure.words().empty();
  }
  co_return false;
}

tandem::task<bool> is_refused() { co_return co_await curl::with_session(ask); }

}  // namespace

int main() {
  if (!tandem::run(is_refused())) return 1;
  std::puts("use_curl: ok");
}
