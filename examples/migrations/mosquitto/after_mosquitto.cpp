// after_mosquitto.cpp: questions and answers over MQTT: a task that answers, and tasks that ask.
// SPDX-License-Identifier: MIT
#include <exception>
#include <map>
#include <tandem/event.hpp>
#include <tandem/io/install.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "job.hpp"
#include "mosquitto_client.hpp"

namespace {

using namespace migrations;
using tandem::task;

/// Connects a client that hears `topic`, and calls `use(client, messages)`.
template <class Use>
task<void> with_client(const job& chosen, const char* id, const char* topic, Use use) {
  const auto connected = [&](tandem::io::foreign_loop& loop) -> task<void> {
    mosquitto_client client(loop, id);
    co_await client.connect("127.0.0.1", chosen.port, ping_seconds);
    const auto listening = [&](auto& messages) -> task<void> {
      co_await client.subscribe(topic, at_least_once);
      co_await use(client, messages);
    };
    co_await tandem::with_callbacks(
        client.messages(4 * chosen.window, tandem::overflow_policy::fail), listening);
  };
  co_await tandem::io::with_foreign_loop(connected);
}

/// Each answer is under way while the next question is awaited.
task<void> answer_all(const job& chosen, tandem::event& is_ready) {
  const auto answering = [&](mosquitto_client& client, auto& heard) -> task<void> {
    is_ready.set();
    const auto each = [&](tandem::task_scope& scope) -> task<void> {
      for (std::size_t i = 0; i < chosen.messages; ++i) {
        auto question = co_await heard.next();
        if (!question) co_return;  // the connection is lost: who publishes is told why
        scope.spawn(client.publish(answers, std::move(question->second), at_least_once));
      }
    };
    co_await tandem::with_scope(each);
  };
  co_await with_client(chosen, "answering", questions, answering);
}

class asking {
 public:
  explicit asking(job& chosen) : job_(chosen) {}

  task<void> ask_all() {
    const auto both = [this](mosquitto_client& client, auto& heard) -> task<void> {
      const auto lanes = [&, this](tandem::task_scope& scope) -> task<void> {
        for (std::size_t i = 0; i < job_.window; ++i) scope.spawn(ask_in_turn(client));
        while (!job_.is_done()) {
          const auto answer = co_await heard.next();
          if (!answer) throw std::system_error(MOSQ_ERR_CONN_LOST, mosquitto_category);
          const std::size_t number = job_.take(answer->second);
          if (number < job_.messages) waiting_.at(number).set();
        }
      };
      co_await tandem::with_scope(lanes);
    };
    co_await with_client(job_, "asking", answers, both);
  }

 private:
  task<void> ask_in_turn(mosquitto_client& client) {
    while (asked_ < job_.messages) {
      const std::size_t number = asked_++;
      tandem::event& answered = waiting_[number];
      co_await client.publish(questions, job_.ask(number), at_least_once);
      co_await answered.wait();
      waiting_.erase(number);
    }
  }

  job& job_;
  std::size_t asked_ = 0;
  std::map<std::size_t, tandem::event> waiting_;
};

task<void> do_all(job& chosen) {
  asking asks(chosen);
  tandem::event is_ready;
  const auto both = [&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(answer_all(chosen, is_ready));
    co_await is_ready.wait();
    co_await asks.ask_all();
  };
  co_await tandem::with_timeout(chosen.limit, tandem::with_scope(both));
}

int run(job& chosen) {
  try {
    mosquitto_lib_init();
    tandem::runtime_options options;
    options.on_suppressed_exception = [](const std::exception_ptr&) {};  // the first one is told
    tandem::runtime runtime(options);
    tandem::io::completion_options one_thread;
    one_thread.min_threads = one_thread.max_threads = 1;
    tandem::sync_wait(tandem::io::install(runtime, one_thread).executor(), do_all(chosen));
    runtime.shutdown();
    return chosen.report();
  } catch (const tandem::operation_cancelled&) {
    return job::failed("no answer in time");
  } catch (const std::system_error& error) {
    return job::failed(error.code().message());
  }
}

}  // namespace

int main(int argc, char** argv) {
  job chosen(argc, argv);
  return run(chosen);
}
