// select.cpp: waiting for several things at once and taking one of them.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/branch_if.hpp>
#include <tandem/channel.hpp>
#include <tandem/errors.hpp>
#include <tandem/interval.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/run.hpp>
#include <tandem/select.hpp>
#include <tandem/select_list.hpp>
#include <tandem/selector.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stopped.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::channel;
using tandem::select;
using tandem::task;

struct totals {
  int done = 0;
  int reports = 0;
  bool was_stopped = false;
};

// Jobs, a report now and then, and an orderly end.
task<void> serve_jobs(channel<int>& jobs, totals& all) {
  tandem::interval every(5ms);
  for (bool is_over = false; !is_over;) {
    auto hit = co_await select(jobs.receive(), every.tick(), tandem::stopped());
    hit.visit(
        [&](std::optional<int> job) {
          is_over = !job;  // it was closed
          all.done += job.value_or(0);
        },
        [&](auto /*when*/) { ++all.reports; },
        [&](tandem::stop_reason) { is_over = all.was_stopped = true; });
  }
}

task<bool> service() {
  channel<int> jobs(4);
  totals all;
  auto service = tandem::spawn(serve_jobs(jobs, all));
  for (int job = 1; job <= 10; ++job) co_await jobs.send(job);
  co_await tandem::sleep_for(20ms);
  service.cancel();
  co_await service;
  co_return all.done == 55 && all.reports > 0 && all.was_stopped;
}

// A limit for a wait.
task<std::string> next_job(channel<std::string>& jobs, std::chrono::milliseconds limit) {
  auto hit = co_await select(jobs.receive(), tandem::sleep_for(limit));
  if (hit.index() == 1) co_return "nothing to do";
  co_return std::move(hit).get<0>().value_or("closed");
}

// Without waiting: what is there, of either.
task<int> drained(channel<int>& a, channel<int>& b) {
  int sum = 0;
  while (true) {
    auto hit = co_await select(tandem::biased, a.receive(), b.receive(), tandem::otherwise);
    if (hit.index() == 2) co_return sum;
    const std::optional<int> got = hit.index() == 0 ? hit.get<0>() : hit.get<1>();
    if (!got) co_return sum;
    sum += *got;
  }
}

// Takes as fast as it can, gives as fast as it may, and keeps what lies in between.
task<void> buffer_between(channel<int>& in, channel<int>& out) {
  std::deque<int> kept;
  int next = 0;
  for (bool is_open = true; is_open || !kept.empty();) {
    if (!kept.empty()) next = kept.front();
    auto hit = co_await select(tandem::branch_if(is_open, in.receive()),
                               tandem::branch_if(!kept.empty(), out.send(next)));
    hit.visit(
        [&](std::optional<int> got) {
          is_open = got.has_value();
          if (got) kept.push_back(*got);
        },
        [&] { kept.pop_front(); });
  }
  out.close();
}

// A failure as a value.
task<std::string> answer_or_limit(tandem::oneshot_receiver<int>& from) {
  auto hit = co_await select(tandem::as_result(from.receive()), tandem::sleep_for(1s));
  if (hit.index() == 1) co_return "late";
  const tandem::result<int>& answer = hit.get<0>();
  co_return answer ? std::to_string(answer.value()) : "no answer";
}

// As many as there are.
task<int> sum_of_all(const std::vector<std::unique_ptr<channel<int>>>& inputs) {
  tandem::select_list<tandem::receive_awaiter<int>> next;
  for (const auto& each : inputs) next.add(each->receive());
  int sum = 0;
  while (!next.is_over()) {
    auto hit = co_await next.next();
    if (hit.value) {
      sum += *hit.value;
    } else {
      next.remove(hit.index);  // it was closed
    }
  }
  co_return sum;
}

// A loop that is asked often: its branches stay in their places.
task<int> add_up(channel<int>& numbers, channel<std::string>& notes, std::string& log) {
  int sum = 0;
  tandem::selector next(numbers.receive(), notes.receive());
  for (bool is_over = false; !is_over;) {
    auto hit = co_await next.next();
    hit.visit(
        [&](std::optional<int> number) {
          is_over = !number;
          sum += number.value_or(0);
        },
        [&](std::optional<std::string> note) { log += note.value_or(""); });
  }
  co_return sum;
}

// Not a branch by itself: a task. Its handle is one.
task<std::string> compute() {
  co_await tandem::sleep_for(1ms);
  co_return "computed";
}
task<std::string> computed_with_notes(channel<std::string>& notes) {
  std::string heard;
  auto computing = tandem::spawn(compute());
  while (true) {
    auto hit = co_await select(notes.receive(), computing);
    if (hit.index() == 1) co_return heard + hit.get<1>();
    heard += hit.get<0>().value_or("") + ", ";
  }
}

// Bytes of a connection, or a word from another task, whichever comes first.
task<std::string> read_all(io::tcp_stream from, channel<std::string>& words) {
  std::string bytes;
  while (true) {
    auto hit = co_await select(from.receive(), words.receive());
    if (hit.index() == 1) {
      bytes += "|";
    } else if (hit.get<0>().empty()) {
      co_return bytes;
    } else {
      bytes += io::text_of(hit.get<0>().bytes());
    }
  }
}
task<void> write_lines(std::uint16_t port, channel<std::string>& words) {
  auto to = co_await io::tcp_stream::connect("localhost", port);
  for (int i = 0; i < 100; ++i) {
    (void)words.try_send("word");
    co_await to.write_all(io::bytes_of("a"));
  }
}
task<std::size_t> over_the_network() {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  channel<std::string> words(200);
  std::size_t seen = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(write_lines(listener.local_endpoint().port(), words));
    auto hit = co_await select(listener.accept(), tandem::sleep_for(10s));
    if (hit.index() == 1) co_return;
    const std::string bytes = co_await read_all(std::move(hit).get<0>(), words);
    for (const char each : bytes) seen += each == 'a' ? 1U : 0U;
  });
  co_return seen;
}

task<bool> on_channels() {
  channel<int> a(8);
  channel<int> b(8);
  for (int i = 1; i <= 3; ++i) (void)(a.try_send(i) && b.try_send(10 * i));
  const int there = co_await drained(a, b);

  channel<int> out(1);
  auto between = tandem::spawn(buffer_between(a, out));
  for (int i = 1; i <= 100; ++i) co_await a.send(i);
  a.close();
  int through = 0;
  while (auto each = co_await out.receive()) through += *each;
  co_await between;

  std::vector<std::unique_ptr<channel<int>>> inputs;
  for (int i = 0; i < 5; ++i) {
    inputs.push_back(std::make_unique<channel<int>>(4));
    (void)inputs.back()->try_send(i);
    inputs.back()->close();
  }
  const int sum = co_await sum_of_all(inputs);

  channel<std::string> notes(2);
  std::string log;
  auto adding = tandem::spawn(add_up(b, notes, log));
  co_await notes.send("a note");
  for (int i = 1; i <= 20; ++i) co_await b.send(i);
  b.close();
  const int added = co_await adding;
  co_return there == 66 && through == 5050 && sum == 10 && added == 210;
}

task<int> all_of_them() {
  channel<std::string> jobs(1);
  const std::string none = co_await next_job(jobs, 1ms);
  co_await jobs.send("a note");
  const std::string heard = co_await computed_with_notes(jobs);
  tandem::oneshot<int> unanswered;
  unanswered.sender = {};
  const std::string answer = co_await answer_or_limit(unanswered.receiver);
  const bool serves = co_await service();
  const bool selects = co_await on_channels();
  const std::size_t bytes = co_await over_the_network();
  std::printf("%s; %s; %s; %zu bytes\n", none.c_str(), heard.c_str(), answer.c_str(), bytes);
  const bool right = none == "nothing to do" && heard == "a note, computed" &&
                     answer == "no answer" && serves && selects && bytes == 100;
  co_return right ? 0 : 1;
}

int main() { return tandem::run(all_of_them()); }
