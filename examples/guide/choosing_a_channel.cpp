// choosing_a_channel.cpp: values from task to task, in the six ways that there are.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdio>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/broadcast.hpp>
#include <tandem/channel.hpp>
#include <tandem/errors.hpp>
#include <tandem/oneshot.hpp>
#include <tandem/run.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/unbounded_channel.hpp>
#include <tandem/watch.hpp>
#include <utility>

using tandem::task;

// Work that is handed over: each item to one, and whoever sends too fast is held up.
task<long> sum_up(tandem::channel<int>& numbers) {
  long sum = 0;
  while (auto number = co_await numbers.receive()) sum += *number;
  co_return sum;
}
task<long> bounded() {
  tandem::channel<int> numbers(16);
  auto sum = tandem::spawn(sum_up(numbers));
  for (int number = 1; number <= 100; ++number) co_await numbers.send(number);
  numbers.close();
  co_return co_await sum;
}

// A question, and the way back for its answer.
struct question {
  question(int one, int other, tandem::oneshot_sender<int> to)
      : a(one), b(other), answer(std::move(to)) {}
  int a, b;
  tandem::oneshot_sender<int> answer;
};
task<void> answer_all(tandem::channel<question>& questions) {
  while (auto each = co_await questions.receive()) {
    if (each->b != 0) each->answer.send(each->a / each->b);  // else it goes without an answer
  }
}
task<int> ask(tandem::channel<question>& questions, int a, int b) {
  tandem::oneshot<int> answer;
  co_await questions.send(question(a, b, std::move(answer.sender)));
  co_return co_await answer.receiver.receive();
}
task<int> request_and_answer() {
  tandem::channel<question> questions(16);
  auto server = tandem::spawn(answer_all(questions));
  const int ratio = co_await ask(questions, 42, 6);
  const auto none = co_await tandem::as_result(ask(questions, 42, 0));
  questions.close();
  co_await server;
  co_return none.error() == tandem::errc::sender_dropped ? ratio : 0;
}

// What must not wait: a log, a callback, a destructor.
task<std::string> never_waits() {
  int alarms = 0;
  tandem::unbounded_channel<std::string> log(2, [&](std::size_t) { ++alarms; });
  for (const char* line : {"a", "b", "c", "d"}) log.send(line);
  log.close();
  std::string all;
  while (auto line = co_await log.receive()) all += *line;
  co_return all + (alarms == 1 ? ", once too long" : "");
}

// Events for all that listen. Who is slow hears how many it has missed.
task<std::string> listen(tandem::broadcast_receiver<int> feed) {
  std::string heard;
  while (auto event = co_await feed.receive()) {
    if (event.missed() != 0) {
      heard += "(" + std::to_string(event.missed()) + " missed)";
    } else {
      heard += std::to_string(*event);
    }
  }
  co_return heard;
}
task<std::string> events() {
  tandem::broadcast<int> feed(4);
  auto slow = feed.subscribe();
  for (int event = 1; event <= 6; ++event) feed.send(event);
  feed.close();
  co_return co_await listen(std::move(slow));
}

// The latest state, for any number of readers.
task<int> latest_state() {
  tandem::watch<int> level(1);
  auto reader = level.subscribe();
  for (int now = 2; now <= 5; ++now) level.set(now);
  co_return (co_await reader.next()).value_or(0);
}

task<int> all_of_them() {
  const long sum = co_await bounded();
  const int answer = co_await request_and_answer();
  const std::string log = co_await never_waits();
  const std::string heard = co_await events();
  const int level = co_await latest_state();
  std::printf("%ld, %d, %s, %s, %d\n", sum, answer, log.c_str(), heard.c_str(), level);
  const bool right = sum == 5050 && answer == 7 && log == "abcd, once too long" &&
                     heard == "(2 missed)3456" && level == 5;
  co_return right ? 0 : 1;
}

int main() { return tandem::run(all_of_them()); }
