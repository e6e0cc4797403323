// before_redis.cpp: counts votes in Redis by hiredis's asynchronous API, over a loop of poll(2).
// SPDX-License-Identifier: MIT
//
// before_redis PORT < names: each line is a vote. At most 64 are on their way at once; when all are
// counted, the result is asked for, and printed. A server that says nothing for LIMIT is given up.
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;
constexpr std::chrono::seconds limit{5};
constexpr std::size_t most_at_once = 64;

/// What hiredis wants of an event loop: its hooks switch these, and the loop looks at them.
struct poll_events {
  redisAsyncContext* context = nullptr;
  bool reads = false;
  bool writes = false;
  bool is_gone = false;

  static poll_events& of(void* self) { return *static_cast<poll_events*>(self); }
  static void add_read(void* self) { of(self).reads = true; }
  static void del_read(void* self) { of(self).reads = false; }
  static void add_write(void* self) { of(self).writes = true; }
  static void del_write(void* self) { of(self).writes = false; }
  static void clean_up(void* self) { of(self).is_gone = true; }

  void attach(redisAsyncContext* to) {
    context = to;
    to->ev.data = this;
    to->ev.addRead = &add_read;
    to->ev.delRead = &del_read;
    to->ev.addWrite = &add_write;
    to->ev.delWrite = &del_write;
    to->ev.cleanup = &clean_up;
  }
};

/// All that has to be remembered between two callbacks.
struct state {
  poll_events events;
  std::set<std::string> names;
  std::vector<std::string> asked;  // what MGET's answers are about
  std::size_t waiting = 0;
  bool input_ended = false;
  bool asked_for_result = false;
  bool done = false;
  std::string failure;
  steady::time_point deadline;
};

void fail(state& all, const std::string& why) {
  if (all.failure.empty()) all.failure = why;
  all.done = true;
}

void go_on(state& all);

void counted(redisAsyncContext* /*context*/, void* answer, void* self) {
  auto& all = *static_cast<state*>(self);
  const auto* const got = static_cast<redisReply*>(answer);
  --all.waiting;
  if (got == nullptr) return;  // the connection is gone: `disconnected` says why
  all.deadline = steady::now() + limit;
  if (got->type == REDIS_REPLY_ERROR) {
    fail(all, got->str);
    return;
  }
  go_on(all);
}

void show_result(redisAsyncContext* /*context*/, void* answer, void* self) {
  auto& all = *static_cast<state*>(self);
  const auto* const got = static_cast<redisReply*>(answer);
  if (got == nullptr) return;
  if (got->type == REDIS_REPLY_ERROR) {
    fail(all, got->str);
    return;
  }
  if (got->type != REDIS_REPLY_ARRAY || got->elements != all.asked.size()) {
    fail(all, "no such answer was asked for");
    return;
  }
  long total = 0;
  for (std::size_t each = 0; each < got->elements; ++each) {
    const redisReply* const one = got->element[each];
    if (one->type != REDIS_REPLY_STRING) {
      fail(all, "no such answer was asked for");
      return;
    }
    total += std::atol(one->str);
    std::printf("%s %s\n", all.asked[each].c_str(), one->str);
  }
  std::printf("%ld votes\n", total);
  all.done = true;
}

void ask_for_result(state& all) {
  all.asked_for_result = true;
  std::vector<std::string> keys{"MGET"};
  for (const std::string& each : all.names) {
    all.asked.push_back(each);
    keys.push_back("votes:" + each);
  }
  if (all.asked.empty()) {
    std::printf("0 votes\n");
    all.done = true;  // in a callback of its own a context must not be freed: the loop does it
    return;
  }
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  for (const std::string& each : keys) {
    words.push_back(each.data());
    sizes.push_back(each.size());
  }
  if (redisAsyncCommandArgv(all.events.context, &show_result, &all, static_cast<int>(words.size()),
                            words.data(), sizes.data()) != REDIS_OK) {
    fail(all, "the command could not be sent");
  }
}

/// Called whenever there is room for more: reads votes, and sends them.
void go_on(state& all) {
  std::string name;
  while (!all.input_ended && all.waiting < most_at_once) {
    if (!std::getline(std::cin, name)) {
      all.input_ended = true;
      break;
    }
    all.names.insert(name);
    const std::string key = "votes:" + name;
    if (redisAsyncCommand(all.events.context, &counted, &all, "INCR %b", key.data(), key.size()) !=
        REDIS_OK) {
      fail(all, "the command could not be sent");
      return;
    }
    ++all.waiting;
  }
  if (all.input_ended && all.waiting == 0 && !all.asked_for_result) ask_for_result(all);
}

void connected(const redisAsyncContext* context, int status) {
  auto& all = *static_cast<state*>(context->data);
  if (status != REDIS_OK) {
    fail(all, context->errstr);  // hiredis frees the context after this
    return;
  }
  all.deadline = steady::now() + limit;
  go_on(all);
}

void disconnected(const redisAsyncContext* context, int status) {
  auto& all = *static_cast<state*>(context->data);
  if (status != REDIS_OK) fail(all, context->errstr);
  if (!all.done) fail(all, "the server has closed the connection");
}

void run(state& all) {
  poll_events& events = all.events;
  while (!events.is_gone) {
    if (all.done) {
      redisAsyncFree(events.context);
      break;
    }
    pollfd waits{};
    waits.fd = events.context->c.fd;
    waits.events = static_cast<short>((events.reads ? POLLIN : 0) | (events.writes ? POLLOUT : 0));
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(all.deadline - steady::now());
    const int ready = left.count() <= 0 ? 0 : poll(&waits, 1, static_cast<int>(left.count()) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) fail(all, std::strerror(errno));
    if (ready == 0 && steady::now() >= all.deadline) fail(all, "the server does not answer");
    if (ready <= 0) continue;
    if ((waits.revents & (POLLIN | POLLHUP | POLLERR)) != 0 && events.reads) {
      redisAsyncHandleRead(events.context);
    }
    // The context may be gone by now.
    if (!events.is_gone && (waits.revents & (POLLOUT | POLLHUP | POLLERR)) != 0 && events.writes) {
      redisAsyncHandleWrite(events.context);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: before_redis PORT < names\n");
    return 2;
  }
  state all;
  redisAsyncContext* const context = redisAsyncConnect("127.0.0.1", std::atoi(argv[1]));
  if (context == nullptr || context->err != 0) {
    std::fprintf(stderr, "%s\n", context != nullptr ? context->errstr : "no memory");
    if (context != nullptr) redisAsyncFree(context);
    return 1;
  }
  context->data = &all;
  all.events.attach(context);
  all.deadline = steady::now() + limit;
  redisAsyncSetConnectCallback(context, &connected);
  redisAsyncSetDisconnectCallback(context, &disconnected);
  run(all);
  if (all.failure.empty()) return 0;
  std::fprintf(stderr, "%s\n", all.failure.c_str());
  return 1;
}
