// main.cpp: a name server for the names of a hosts file, and a client that asks one. name_server --help
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "dns_message.hpp"

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

namespace {

/// Names and their addresses, as in /etc/hosts.
class host_table {
 public:
  /// @throws  std::invalid_argument naming the line
  void read(std::istream& from) {
    std::string line;
    for (int number = 1; std::getline(from, line); ++number) {
      std::istringstream words(line.substr(0, line.find('#')));
      std::string address;
      if (!(words >> address)) continue;
      const bool is_v6 = address.find(':') != std::string::npos;
      try {
        const auto known = io::endpoint::parse(is_v6 ? "[" + address + "]:0" : address + ":0");
        for (std::string name; words >> name;) names_[name].push_back(known);
      } catch (const std::exception&) {
        throw std::invalid_argument("line " + std::to_string(number) + ": '" + address +
                                    "' is no address: write ADDRESS NAME... as in /etc/hosts");
      }
    }
  }
  const std::vector<io::endpoint>* find(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::vector<io::endpoint>> names_;
};

dns::message answer_to(const dns::question& asked, const host_table& hosts) {
  if (asked.problem != dns::code::good) return dns::message::of_answer(asked, asked.problem, {});
  if (asked.of_class != dns::class_internet) {
    return dns::message::of_answer(asked, dns::code::refused, {});
  }
  const std::vector<io::endpoint>* const known = hosts.find(asked.name);
  if (known == nullptr) return dns::message::of_answer(asked, dns::code::no_such_name, {});
  return dns::message::of_answer(asked, dns::code::good, *known);
}

/// Several of these serve one port; the kernel spreads the clients over them.
task<void> serve_names(io::udp_socket socket, const host_table& hosts) {
  while (true) {
    const io::received_datagram got = co_await socket.receive();
    for (const auto each : got.segments()) {
      const auto asked = dns::parse(each);
      if (!asked) continue;
      const dns::message answer = answer_to(*asked, hosts);
      // A client that cannot be reached asks again, or does not.
      (void)co_await tandem::as_result(socket.send_to(answer.bytes(), got.sender()));
    }
  }
}

/// Asks up to three times: nobody tells what is lost on the way.
task<dns::answer> ask(io::endpoint server, std::string name, std::uint16_t type) {
  io::udp_socket socket = io::udp_socket::connect(server);
  const auto id = static_cast<std::uint16_t>(std::random_device()());
  const dns::message question = dns::message::of_question(id, name, type);
  for (int tries_left = 3; tries_left > 0; --tries_left) {
    co_await socket.send(question.bytes());
    const auto until = std::chrono::steady_clock::now() + 1s;
    while (true) {
      auto got = co_await tandem::as_result(tandem::with_deadline(until, socket.receive()));
      if (!got) {
        if (got.error() != std::errc::timed_out) std::move(got).value();  // nobody listens there
        break;
      }
      auto answer = dns::parse_answer(got.value().bytes());
      if (answer && answer->id == id) co_return std::move(*answer);
    }
  }
  throw std::runtime_error(server.to_string() + " does not answer");
}

void tell(const std::string& name, const dns::answer& answer) {
  if (answer.result == dns::code::no_such_name) {
    std::cout << name << " is not known\n";
  } else if (answer.result != dns::code::good) {
    std::cout << "the server does not answer that: code " << static_cast<int>(answer.result)
              << '\n';
  }
  for (const io::endpoint& each : answer.addresses) {
    std::cout << name << " has " << each.address_to_string() << '\n';
  }
}

task<int> run_server(std::uint16_t port, const host_table& hosts) {
  io::signal_set signals({SIGINT, SIGTERM});
  auto shards = io::udp_socket::bind_sharded(io::endpoint::loopback_v4(port));
  std::cout << "listening on " << shards.front().local_endpoint().to_string() << std::endl;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (io::udp_socket& each : shards) {
      tandem::executor& home = each.thread_executor();
      scope.spawn(home, serve_names(std::move(each), hosts));
    }
    co_await signals.wait();
    scope.request_stop();
  });
  co_return 0;
}

task<int> run_client(const std::string& host, std::uint16_t port, const std::string& name) {
  const auto servers = co_await io::resolve(host, port);
  bool is_known = false;
  for (const std::uint16_t type : {dns::type_a, dns::type_aaaa}) {
    const dns::answer answer = co_await ask(servers.front(), name, type);
    if (type == dns::type_a || !answer.addresses.empty()) tell(name, answer);
    is_known |= !answer.addresses.empty();
  }
  co_return is_known ? 0 : 1;
}

/// Both sides in one process.
task<int> demonstrate(const host_table& hosts) {
  auto server = io::udp_socket::bind(io::endpoint::loopback_v4(0));
  const io::endpoint here = server.local_endpoint();
  dns::answer known;
  dns::answer unknown;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(serve_names(std::move(server), hosts));
    known = co_await ask(here, "printer.example", dns::type_a);
    unknown = co_await ask(here, "scanner.example", dns::type_a);
    scope.request_stop();
  });
  tell("printer.example", known);
  tell("scanner.example", unknown);
  co_return known.addresses.size() == 1 && unknown.result == dns::code::no_such_name ? 0 : 1;
}

host_table hosts_of(const std::string& path) {
  host_table hosts;
  if (path.empty()) {
    std::istringstream some("127.0.0.1 localhost\n::1 localhost\n192.0.2.7 printer.example\n");
    hosts.read(some);
    return hosts;
  }
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  hosts.read(file);
  return hosts;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 5353;
  std::uint16_t port_of_server = 0;
  std::string path;
  std::string host;
  std::string name;
  CLI::App app(
      "Answers questions of DNS for the names of a hosts file; without a command it shows both "
      "sides");
  app.option_defaults()->always_capture_default();
  app.add_option("--port", port, "of the server; 0 picks a free one");
  app.add_option("--hosts", path, "lines ADDRESS NAME..., as in /etc/hosts");
  CLI::App* const serve =
      app.add_subcommand("serve", "serve until SIGINT or SIGTERM")->fallthrough();
  CLI::App* const asking = app.add_subcommand("ask", "ask a name server for the addresses of NAME");
  asking->add_option("HOST", host)->required();
  asking->add_option("PORT", port_of_server)->required();
  asking->add_option("NAME", name)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    if (*asking) return tandem::run(run_client(host, port_of_server, name));
    const host_table hosts = hosts_of(path);
    tandem::runtime_options options;
    options.dump_on_signal = true;
    if (*serve) return tandem::run(run_server(port, hosts), options);
    return tandem::run(demonstrate(hosts));
  } catch (const std::exception& error) {
    std::cerr << "name_server: " << error.what() << '\n';
    return 1;
  }
}
