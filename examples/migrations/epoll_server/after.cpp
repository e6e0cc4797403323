// after.cpp: the key/value service on tandem: a task for each connection, all of them on one completion thread.
// SPDX-License-Identifier: MIT
//
// Between two co_awaits nobody else runs there, so the maps need no lock.
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>

#include "../settings.hpp"
#include "request.hpp"

namespace {

using namespace migrations;
namespace io = tandem::io;
using tandem::task;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads until there is a line, or more than a line may have. @returns false at the end
task<bool> read_line(io::buffered_reader<io::tcp_stream>& reader) {
  do {
    const std::size_t came = co_await reader.fill();
    if (came == 0) co_return false;
  } while (!reader.has("\n") && reader.buffered().size() <= longest_line);
  co_return true;
}

task<void> drop_all(io::tcp_stream& client) {
  std::array<std::byte, 4096> dropped;
  while (co_await client.read(dropped) > 0) {}
}

class waiter {
 public:
  tandem::event answered;
  std::optional<std::string> value;
};

class service {
 public:
  explicit service(const settings& chosen) : chosen_(chosen) {}

  /// One connection. What throws, such as a limit that is over, ends it.
  task<void> serve(io::tcp_stream client, std::stop_token draining) {
    io::buffered_reader reader(client, 2 * longest_line);
    std::string out;
    while (true) {
      const std::string_view rest = text_of(reader.buffered());
      const std::size_t length = rest.find('\n');
      if (std::min(length, rest.size()) > longest_line) break;
      const bool complete = length != rest.npos;
      const request asked(rest.substr(0, complete ? length : 0));
      const bool waits = complete && asked.kind == verb::wait;
      if (!out.empty() && (!complete || waits || out.size() >= most_answers)) {
        co_await tandem::with_timeout(chosen_.idle, client.write_all(io::bytes_of(out)));
        out.clear();
      }
      if (!complete) {
        const bool more = co_await tandem::with_stop(
            draining, tandem::with_timeout(chosen_.idle, read_line(reader)));
        if (!more) co_return;
        continue;
      }
      if (waits) {
        out = co_await wait_for(std::string(asked.key), draining);
      } else {
        answer(asked, out);
      }
      reader.consume(length + 1);
    }
    out += "ERROR line too long\n";
    co_await tandem::with_timeout(chosen_.idle, client.write_all(io::bytes_of(out)));
    client.shutdown();  // what it still sends is read, or a reset would overtake the answer
    co_await tandem::with_stop(draining, tandem::with_timeout(chosen_.idle, drop_all(client)));
  }

 private:
  task<std::string> wait_for(std::string key, std::stop_token draining) {
    if (const auto found = values_.find(key); found != values_.end()) {
      co_return "VALUE " + found->second + "\n";
    }
    waiter here;
    const auto place = keys_waited_for_.emplace(key, &here);
    (void)co_await tandem::as_result(
        tandem::with_stop(draining, tandem::with_timeout(chosen_.wait, here.answered.wait())));
    if (here.value) co_return "VALUE " + *here.value + "\n";  // SET has taken it off the list
    keys_waited_for_.erase(place);
    co_return draining.stop_requested() ? "CLOSING\n" : "TIMEOUT\n";
  }

  void answer(const request& asked, std::string& out) {
    const auto found = values_.find(asked.key);
    switch (asked.kind) {
      case verb::set: {
        values_.insert_or_assign(std::string(asked.key), std::string(asked.value));
        const auto [first, last] = keys_waited_for_.equal_range(asked.key);
        for (auto each = first; each != last; ++each) {
          each->second->value = asked.value;
          each->second->answered.set();
        }
        keys_waited_for_.erase(first, last);
        out += "OK\n";
        break;
      }
      case verb::get:
        if (found == values_.end()) {
          out += "NONE\n";
        } else {
          out += "VALUE ";
          out += found->second;
          out += '\n';
        }
        break;
      case verb::del:
        out += found == values_.end() ? "NONE\n" : "OK\n";
        if (found != values_.end()) values_.erase(found);
        break;
      case verb::count:
        out += std::to_string(values_.size()) + " keys, " +
               std::to_string(keys_waited_for_.size()) + " waiting\n";
        break;
      case verb::wait:
      case verb::bad: out += "ERROR bad request\n"; break;
    }
  }

  const settings& chosen_;
  std::map<std::string, std::string, std::less<>> values_;
  std::multimap<std::string, waiter*, std::less<>> keys_waited_for_;
};

task<void> run_server(const settings& chosen) {
  io::signal_set signals({SIGINT, SIGTERM});
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(chosen.port));
  announce(listener.local_endpoint().port());
  service keys(chosen);
  io::serve_options options;
  options.drain_timeout = chosen.grace;
  options.on_handler_error = [](const std::exception_ptr&) {};  // a client that has gone
  const auto serve = [&](io::tcp_stream client, std::stop_token draining) {
    return keys.serve(std::move(client), std::move(draining));
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
