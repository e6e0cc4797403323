// after_curl.cpp: many downloads on tandem: a task for each of those that are under way.
// SPDX-License-Identifier: MIT
#include <exception>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/curl.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "job.hpp"

namespace {

using namespace migrations;
using tandem::task;
namespace curl = tandem::io::curl;

task<void> fetch(curl::session& session, download& into) {
  try {
    curl::request asked(into.url);
    asked.on_body = [&into](std::span<const std::byte> bytes) {
      into.take(tandem::io::text_of(bytes));
    };
    const curl::response page = co_await session.send(std::move(asked));
    into.status = page.status;
  } catch (const curl::error& failure) {
    into.failure = failure.url() + ": " + failure.words();
  }
}

/// One after the other, as long as there are some.
task<void> lane(curl::session& session, job& asked, std::size_t& next) {
  while (next < asked.downloads.size()) co_await fetch(session, asked.downloads[next++]);
}

task<void> run_all(job& asked) {
  curl::session_options options;
  options.max_idle_connections = asked.at_once;
  options.limits.total = asked.limit;
  std::size_t next = 0;
  co_await curl::with_session(options, [&](curl::session& session) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      // All on the session's thread: nobody has to be sent there, and `next` needs no lock.
      for (unsigned i = 0; i < asked.at_once; ++i) {
        scope.spawn(session.executor(), lane(session, asked, next));
      }
      co_return;
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    job asked(argc, argv);
    tandem::run(run_all(asked));
    asked.print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "after: %s\n", error.what());
    return 1;
  }
}
