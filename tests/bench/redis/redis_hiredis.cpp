// redis_hiredis.cpp: PORT CASE COUNT: the best loops over hiredis: blocking calls for one, asynchronous ones by epoll for many.
// SPDX-License-Identifier: MIT
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "redis/redis_load.hpp"

namespace {

using redis_load::fail;
using redis_load::figures;
using redis_load::steady;

const std::array<const char*, 2> words{"GET", redis_load::key};
const std::array<std::size_t, 2> sizes{3, std::strlen(redis_load::key)};

void check(const redisReply* got) {
  if (got == nullptr || got->type != REDIS_REPLY_STRING || got->len != 64) fail("a wrong answer");
}

redisContext* connected(int port) {
  redisContext* const to = redisConnect("127.0.0.1", port);
  if (to == nullptr || to->err != 0) fail("no connection");
  freeReplyObject(redisCommand(to, "SET %s %b", redis_load::key, redis_load::value.data(),
                               redis_load::value.size()));
  return to;
}

void single(int port, long count) {
  redisContext* const to = connected(port);
  figures all(static_cast<std::size_t>(count));
  all.begin();
  for (long each = 0; each < count; ++each) {
    const auto began = steady::now();
    auto* const got = static_cast<redisReply*>(
        redisCommandArgv(to, 2, const_cast<const char**>(words.data()), sizes.data()));
    check(got);
    freeReplyObject(got);
    all.add(steady::now() - began);
  }
  all.print(1);
  redisFree(to);
}

void pipeline(int port, long count) {
  redisContext* const to = connected(port);
  figures all(static_cast<std::size_t>(count));
  all.begin();
  for (long each = 0; each < count; ++each) {
    const auto began = steady::now();
    for (int in = 0; in < redis_load::commands; ++in) {
      redisAppendCommandArgv(to, 2, const_cast<const char**>(words.data()), sizes.data());
    }
    for (int in = 0; in < redis_load::commands; ++in) {
      void* got = nullptr;
      if (redisGetReply(to, &got) != REDIS_OK) fail("no answer");
      check(static_cast<redisReply*>(got));
      freeReplyObject(got);
    }
    all.add(steady::now() - began);
  }
  all.print(redis_load::commands);
  redisFree(to);
}

/// hiredis's hooks for an event loop.
struct loop {
  int epoll = -1;
  redisAsyncContext* with = nullptr;
  unsigned interest = 0;
  long left = 0;
  figures* all = nullptr;

  void change(unsigned now) {
    epoll_event event{};
    event.events = now;
    const int how = interest == 0 ? EPOLL_CTL_ADD : now == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    epoll_ctl(epoll, how, with->c.fd, &event);
    interest = now;
  }
  static loop& of(void* self) { return *static_cast<loop*>(self); }
  static void add_read(void* self) {
    if ((of(self).interest & EPOLLIN) == 0) of(self).change(of(self).interest | EPOLLIN);
  }
  static void del_read(void* self) {
    of(self).change(of(self).interest & ~static_cast<unsigned>(EPOLLIN));
  }
  static void add_write(void* self) {
    if ((of(self).interest & EPOLLOUT) == 0) of(self).change(of(self).interest | EPOLLOUT);
  }
  static void del_write(void* self) {
    if ((of(self).interest & EPOLLOUT) != 0)
      of(self).change(of(self).interest & ~static_cast<unsigned>(EPOLLOUT));
  }
};

struct asker {
  loop* in = nullptr;
  steady::time_point began;

  void ask() {
    if (in->left-- <= 0) return;
    began = steady::now();
    redisAsyncCommandArgv(in->with, &asker::answered, this, 2,
                          const_cast<const char**>(words.data()), sizes.data());
  }
  static void answered(redisAsyncContext* /*with*/, void* got, void* self) {
    auto& asked = *static_cast<asker*>(self);
    check(static_cast<redisReply*>(got));
    asked.in->all->add(steady::now() - asked.began);
    asked.ask();
  }
};

void shared(int port, long count) {
  redisFree(connected(port));
  loop events;
  events.epoll = epoll_create1(0);
  events.with = redisAsyncConnect("127.0.0.1", port);
  if (events.with == nullptr || events.with->err != 0) fail("no connection");
  events.with->ev.data = &events;
  events.with->ev.addRead = &loop::add_read;
  events.with->ev.delRead = &loop::del_read;
  events.with->ev.addWrite = &loop::add_write;
  events.with->ev.delWrite = &loop::del_write;
  events.left = count;
  figures all(static_cast<std::size_t>(count));
  events.all = &all;
  std::array<asker, redis_load::tasks> askers;
  all.begin();
  for (asker& each : askers) {
    each.in = &events;
    each.ask();
  }
  while (events.left > -redis_load::tasks) {
    epoll_event event{};
    if (epoll_wait(events.epoll, &event, 1, -1) <= 0) continue;
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) redisAsyncHandleRead(events.with);
    if ((event.events & EPOLLOUT) != 0) redisAsyncHandleWrite(events.with);
  }
  all.print(1);
  redisAsyncFree(events.with);
  close(events.epoll);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: redis_hiredis PORT single|shared|pipeline COUNT");
  const int port = std::atoi(argv[1]);
  const std::string what = argv[2];
  const long count = std::atol(argv[3]);
  if (what == "single") single(port, count);
  if (what == "shared") shared(port, count);
  if (what == "pipeline") pipeline(port, count);
}
