// libpq_loop.cpp: suite postgres: the best loop over libpq that we know: one epoll, no allocation of its own.
// SPDX-License-Identifier: MIT
#include <libpq-fe.h>
#include <sys/epoll.h>

#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "measured.hpp"

namespace {

using postgres_bench::batch;
using postgres_bench::clock;

class client {
 public:
  client(const postgres_bench::settings& with, postgres_bench::counter& counts)
      : counts_(&counts),
        is_pipeline_(with.is_pipeline),
        connection_(PQconnectdb(with.conninfo.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) fail();
    PGresult* const prepared = PQprepare(connection_, "s", postgres_bench::sql, 0, nullptr);
    if (PQresultStatus(prepared) != PGRES_COMMAND_OK) fail();
    PQclear(prepared);
    if (PQsetnonblocking(connection_, 1) != 0) fail();
    if (is_pipeline_ && PQenterPipelineMode(connection_) != 1) fail();
  }

  int descriptor() const { return PQsocket(connection_); }
  void finish() { PQfinish(connection_); }

  void begin() {
    began_ = clock::now();
    if (!is_pipeline_) {
      send(number_);
    } else {
      for (int i = 0; i < batch; ++i) send(i);
      if (PQpipelineSync(connection_) != 1) fail();
      number_ = 0;
    }
    if (PQflush(connection_) < 0) fail();
  }

  /// @returns  whether all is answered, and nothing was begun
  bool on_readable() {
    if (PQconsumeInput(connection_) == 0) fail();
    while (PQisBusy(connection_) == 0) {
      PGresult* const result = PQgetResult(connection_);
      if (result == nullptr) {
        if (is_pipeline_) continue;
        ++number_;
        return next();
      }
      const ExecStatusType status = PQresultStatus(result);
      if (status == PGRES_TUPLES_OK) {
        const char* const text = PQgetvalue(result, 0, 0);
        int got = -1;
        std::from_chars(text, text + PQgetlength(result, 0, 0), got);
        if (got != number_) std::abort();
        if (is_pipeline_) ++number_;
      } else if (status != PGRES_PIPELINE_SYNC) {
        fail();
      }
      PQclear(result);
      if (status == PGRES_PIPELINE_SYNC) return next();
    }
    return false;
  }

 private:
  bool next() {
    counts_->add(began_);
    if (counts_->is_over()) return true;
    begin();
    return false;
  }
  void send(int value) {
    std::array<char, 16> text{};
    *std::to_chars(text.data(), text.data() + text.size() - 1, value).ptr = '\0';
    const char* const values = text.data();
    if (PQsendQueryPrepared(connection_, "s", 1, &values, nullptr, nullptr, 0) != 1) fail();
  }
  [[noreturn]] void fail() const {
    std::fprintf(stderr, "%s", PQerrorMessage(connection_));
    std::exit(1);
  }

  postgres_bench::counter* counts_;
  bool is_pipeline_;
  PGconn* connection_;
  clock::time_point began_;
  int number_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const postgres_bench::settings with(argc, argv);
  postgres_bench::counter counts(with);
  std::vector<client> all;
  all.reserve(static_cast<std::size_t>(with.connections));
  for (int i = 0; i < with.connections; ++i) all.emplace_back(with, counts);
  counts = postgres_bench::counter(with);  // the clock begins when all of them stand
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  for (client& each : all) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &each;
    epoll_ctl(poll, EPOLL_CTL_ADD, each.descriptor(), &event);
    each.begin();
  }
  std::size_t running = all.size();
  std::array<epoll_event, 64> events;
  while (running != 0) {
    const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto& ready = *static_cast<client*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (ready.on_readable()) --running;
    }
  }
  counts.print();
  for (client& each : all) each.finish();
}
