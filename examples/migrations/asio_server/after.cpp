// after.cpp: the chat room on tandem: two tasks for each member, a channel between the room and a member.
// SPDX-License-Identifier: MIT
//
// All of it lives on one completion thread. Between two co_awaits nobody else runs there, so the
// room needs no lock.
#include <array>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/channel.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <vector>

#include "../settings.hpp"
#include "words.hpp"

namespace {

using namespace migrations;
namespace io = tandem::io;
using tandem::task;

class member {
 public:
  explicit member(std::size_t queue) : out(queue) {}

  std::string name;  // while it is in the room
  tandem::channel<message> out;
  tandem::task_scope* scope = nullptr;  // its tasks
};

class room {
 public:
  bool enter(member& who, std::string_view name) {
    if (!members_.try_emplace(std::string(name), &who).second) return false;
    who.name = name;
    return true;
  }
  void leave(member& who, bool quietly = false) {
    if (who.name.empty()) return;
    members_.erase(who.name);
    const std::string name = std::exchange(who.name, {});
    if (!quietly) tell(say("- " + name));
  }
  /// Who is too slow for it is stopped.
  void tell(const message& text, const member* but = nullptr) {
    std::vector<member*> too_slow;
    for (const auto& [name, who] : members_) {
      if (who != but && !who->out.try_send(text)) too_slow.push_back(who);
    }
    for (member* each : too_slow) {
      leave(*each);
      each->scope->request_stop();
    }
  }
  void remember(const message& text) {
    said_.push_back(text);
    if (said_.size() > longest_history) said_.pop_front();
  }
  std::string history() const {
    std::string all;
    for (const message& each : said_) all += *each;
    return all;
  }
  std::string names() const {
    std::string all;
    for (const auto& [name, who] : members_) all += " " + name;
    return all;
  }

 private:
  std::map<std::string, member*> members_;
  std::deque<message> said_;
};

/// What one connection does; it leaves the room however it ends.
class conversation {
 public:
  conversation(const settings& chosen, room& where, io::tcp_stream client, std::stop_token draining)
      : chosen_(chosen),
        room_(where),
        client_(std::move(client)),
        draining_(std::move(draining)),
        self_(chosen.queue) {}
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  ~conversation() { room_.leave(self_, draining_.stop_requested()); }

  task<void> run() {
    co_await tandem::with_scope([this](tandem::task_scope& scope) -> task<void> {
      self_.scope = &scope;
      scope.spawn(write_all());
      co_await read_all();
    });
  }

 private:
  task<void> read_all() {
    const std::string last_word = co_await obey_all();
    room_.leave(self_, draining_.stop_requested());
    if (!last_word.empty()) co_await self_.out.send(say(last_word));
    self_.out.close();
    co_await self_.scope->join();
    client_.shutdown();  // what it still sends is read, or a reset would overtake the last word
    co_await tandem::with_stop(draining_, tandem::with_timeout(chosen_.idle, drop_all()));
  }
  /// Sends what is in the queue, all that waits there at once.
  task<void> write_all() {
    std::string all;
    while (auto first = co_await self_.out.receive()) {
      all = **first;
      while (const auto next = self_.out.try_receive()) all += **next;
      co_await tandem::with_timeout(chosen_.idle, client_.write_all(io::bytes_of(all)));
    }
  }
  /// Until the client leaves, or has to. @returns what it is told last
  task<std::string> obey_all() {
    io::buffered_reader reader(client_, 2 * longest_line);
    while (true) {
      auto line = co_await tandem::as_result(tandem::with_stop(
          draining_, tandem::with_timeout(chosen_.idle, reader.read_until("\n", longest_line))));
      if (line && line.value()) {
        const command said(*line.value());
        if (said.is("QUIT")) co_return "BYE";
        co_await self_.out.send(obey(said));
      } else if (draining_.stop_requested()) {
        co_return "BYE";
      } else if (line || line.error() == io::stream_errc::unexpected_end) {
        co_return "";
      } else if (line.error() == io::stream_errc::too_long) {
        co_return "ERROR line too long";
      } else {
        (void)line.value();  // its limit is over, or the connection broke: throws
      }
    }
  }
  message obey(const command& said) {
    if (self_.name.empty()) {
      if (said.word != "NICK") return say("ERROR NICK first");
      if (!is_name(said.argument)) return say("ERROR bad name");
      if (!room_.enter(self_, said.argument)) return say("ERROR that name is taken");
      room_.tell(say("+ " + self_.name), &self_);
      std::string told = *say("HELLO " + self_.name) + room_.history();
      return std::make_shared<const std::string>(std::move(told));
    }
    if (said.word == "SAY" && !said.argument.empty()) {
      message told = say(self_.name + ": " + std::string(said.argument));
      room_.remember(told);
      room_.tell(told, &self_);
      return told;
    }
    if (said.is("WHO")) return say("HERE" + room_.names());
    return say("ERROR bad command");
  }
  task<void> drop_all() {
    std::array<std::byte, 4096> dropped;
    while (true) {
      const std::size_t came = co_await client_.read(dropped);
      if (came == 0) co_return;
    }
  }

  const settings& chosen_;
  room& room_;
  io::tcp_stream client_;
  std::stop_token draining_;
  member self_;
};

task<void> run_server(const settings& chosen) {
  io::signal_set signals({SIGINT, SIGTERM});
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(chosen.port));
  announce(listener.local_endpoint().port());
  room everybody;
  io::serve_options options;
  options.drain_timeout = chosen.grace;
  options.on_handler_error = [](const std::exception_ptr&) {};  // a client that has gone
  const auto serve = [&](io::tcp_stream client, std::stop_token draining) -> task<void> {
    conversation talk(chosen, everybody, std::move(client), std::move(draining));
    co_await talk.run();
  };
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), serve, options));
    co_await signals.wait();
    scope.request_stop();
  });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const settings chosen(argc, argv);
    tandem::runtime runtime;
    io::completion_options one_thread;
    one_thread.min_threads = one_thread.max_threads = 1;
    tandem::sync_wait(io::install(runtime, one_thread).executor(), run_server(chosen));
    runtime.shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "after: %s\n", error.what());
    return 1;
  }
}
