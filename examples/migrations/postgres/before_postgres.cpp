// before_postgres.cpp: CONNINFO ORDERS: by libpq's asynchronous functions, one loop of poll(), and a state for each client.
// SPDX-License-Identifier: MIT
//
// As the manual of libpq has it ("Asynchronous Command Processing"): PQconnectPoll() until the
// connection stands; then send, flush, wait, PQconsumeInput(), PQisBusy(), PQgetResult().
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "job.hpp"

namespace {

enum class state { connects, begins, takes, notes, commits, rolls_back, has_ended, has_failed };

class client {
 public:
  client(const char* conninfo, int number, int orders)
      : number_(number), orders_(orders), order_(shop::next_order(number, -1)) {
    connection_ = PQconnectStart(conninfo);
    if (connection_ == nullptr || PQstatus(connection_) == CONNECTION_BAD) fail();
    events_ = POLLOUT;
  }
  client(client&& other) noexcept
      : connection_(other.connection_),
        number_(other.number_),
        orders_(other.orders_),
        order_(other.order_),
        refused_(other.refused_),
        state_(other.state_),
        events_(other.events_) {
    other.connection_ = nullptr;
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { PQfinish(connection_); }

  bool has_ended() const { return state_ == state::has_ended || state_ == state::has_failed; }
  bool has_failed() const { return state_ == state::has_failed; }
  int refused() const { return refused_; }
  pollfd waits_for() const { return {has_ended() ? -1 : PQsocket(connection_), events_, 0}; }

  void on_event(short events) {
    if (state_ == state::connects) return connect();
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && PQconsumeInput(connection_) == 0) {
      return fail();
    }
    flush();
    while (!has_ended() && PQisBusy(connection_) == 0) {
      PGresult* const result = PQgetResult(connection_);
      if (result == nullptr) {
        next();
        continue;
      }
      look_at(result);
      PQclear(result);
    }
  }

 private:
  void connect() {
    switch (PQconnectPoll(connection_)) {
      case PGRES_POLLING_READING: events_ = POLLIN; break;
      case PGRES_POLLING_WRITING: events_ = POLLOUT; break;
      case PGRES_POLLING_OK:
        if (PQsetnonblocking(connection_, 1) != 0) return fail();
        begin();
        break;
      default: fail();
    }
  }

  void look_at(const PGresult* result) {
    if (PQresultStatus(result) != PGRES_FATAL_ERROR) return;
    const char* const code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state_ == state::takes && code != nullptr && std::strcmp(code, shop::too_few) == 0) {
      is_refused_ = true;
    } else {
      fail();
    }
  }

  /// The statement that was under way has been answered.
  void next() {
    switch (state_) {
      case state::begins: take(); break;
      case state::takes:
        if (is_refused_) {
          ++refused_;
          send(state::rolls_back, "rollback", {});
        } else {
          note();
        }
        break;
      case state::notes: send(state::commits, "commit", {}); break;
      case state::commits:
      case state::rolls_back:
        order_ = shop::next_order(number_, order_);
        begin();
        break;
      default: break;
    }
  }

  void begin() {
    if (order_ >= orders_) {
      state_ = state::has_ended;
      return;
    }
    is_refused_ = false;
    send(state::begins, "begin", {});
  }
  void take() {
    const shop::order now(order_);
    send(state::takes, shop::take, {now.amount, now.thing});
  }
  void note() {
    const shop::order now(order_);
    send(state::notes, shop::note, {now.number, now.thing, now.amount});
  }

  void send(state then, const char* sql, const std::vector<int>& values) {
    state_ = then;
    std::vector<std::string> texts;
    std::vector<const char*> pointers;
    for (const int each : values) texts.push_back(std::to_string(each));
    for (const std::string& each : texts) pointers.push_back(each.c_str());
    if (PQsendQueryParams(connection_, sql, static_cast<int>(values.size()), nullptr,
                          pointers.data(), nullptr, nullptr, 0) == 0) {
      return fail();
    }
    flush();
  }
  void flush() {
    if (has_ended()) return;
    const int left = PQflush(connection_);
    if (left < 0) return fail();
    events_ = static_cast<short>(left != 0 ? POLLIN | POLLOUT : POLLIN);
  }

  void fail() {
    std::fprintf(stderr, "client %d: %s", number_, PQerrorMessage(connection_));
    state_ = state::has_failed;
  }

  PGconn* connection_ = nullptr;
  int number_;
  int orders_;
  int order_;
  int refused_ = 0;
  bool is_refused_ = false;
  state state_ = state::connects;
  short events_ = 0;
};

/// For what comes before and after, when there is nothing else to do.
PGresult* ask(PGconn* connection, const char* sql) {
  PGresult* const result = PQexec(connection, sql);
  if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK) {
    std::fprintf(stderr, "%s", PQerrorMessage(connection));
    std::exit(1);
  }
  return result;
}

bool serve(std::vector<client>& all) {
  std::vector<pollfd> waits(all.size());
  while (true) {
    bool has_any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].has_failed()) return false;
      waits[i] = all[i].waits_for();
      has_any = has_any || !all[i].has_ended();
    }
    if (!has_any) return true;
    if (poll(waits.data(), waits.size(), -1) < 0) return false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (waits[i].revents != 0) all[i].on_event(waits[i].revents);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  PGconn* const first = PQconnectdb(argv[1]);
  if (PQstatus(first) != CONNECTION_OK) {
    std::fprintf(stderr, "%s", PQerrorMessage(first));
    return 1;
  }
  PQclear(ask(first, shop::set_up));
  int refused = 0;
  {
    std::vector<client> all;
    for (int i = 0; i < shop::clients; ++i) all.emplace_back(argv[1], i, std::atoi(argv[2]));
    if (!serve(all)) return 1;
    for (const client& each : all) refused += each.refused();
  }
  PGresult* const result = ask(first, shop::report);
  for (int i = 0; i < PQntuples(result); ++i) {
    std::printf("thing %s: %s left, %s orders of %s\n", PQgetvalue(result, i, 0),
                PQgetvalue(result, i, 1), PQgetvalue(result, i, 2), PQgetvalue(result, i, 3));
  }
  std::printf("%d refused\n", refused);
  PQclear(result);
  PQfinish(first);
}
