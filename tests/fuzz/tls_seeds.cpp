// tls_seeds.cpp: tls_fuzz_seeds FOLDER: writes the corpus that a fuzzer of TLS begins with.
// SPDX-License-Identifier: MIT
//
// What is said in good handshakes, for a server and a client to hear from nobody; what is no TLS; and
// each kind of change, at each place of a handshake.
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "tls_run.hpp"

namespace {

using tandem::task;
using tandem::test::fuzz_pipe;
using tandem::test::fuzz_stream;
using tandem::test::fuzz_wire;
using bytes = std::vector<std::uint8_t>;

/// Keeps what passes.
class recording_wire : public fuzz_wire {
 public:
  recording_wire(std::shared_ptr<fuzz_pipe> to, bytes& kept)
      : fuzz_wire(std::move(to)), kept_(kept) {}
  task<void> pass(std::vector<std::byte> flight) override {
    for (const std::byte each : flight) kept_.push_back(std::to_integer<std::uint8_t>(each));
    return fuzz_wire::pass(std::move(flight));
  }

 private:
  bytes& kept_;
};

task<void> speak(task<tandem::io::tls_stream> handshake) {
  tandem::io::tls_stream stream = co_await std::move(handshake);
  co_await stream.write_all(tandem::io::bytes_of("hello"));
  std::array<std::byte, 8> room;
  (void)co_await stream.read(room);
  (void)co_await stream.finish(std::chrono::seconds(1));
}

/// What both sides say with these contexts.
std::pair<bytes, bytes> conversation(std::uint8_t context) {
  std::pair<bytes, bytes> said;
  tandem::test::run_fuzzed(1, [&]() -> task<void> {
    const auto there = std::make_shared<fuzz_pipe>();
    const auto back = std::make_shared<fuzz_pipe>();
    fuzz_stream client(back, std::make_shared<recording_wire>(there, said.first));
    fuzz_stream server(there, std::make_shared<recording_wire>(back, said.second));
    co_await tandem::when_all(
        speak(tandem::io::tls::connect(std::move(client), "localhost",
                                       tandem::test::fuzz_client(context))),
        speak(tandem::io::tls::accept(std::move(server), tandem::test::fuzz_server(context))));
  });
  return said;
}

class seed_folder {
 public:
  explicit seed_folder(std::filesystem::path where) : where_(std::move(where)) {
    std::filesystem::create_directories(where_);
  }
  void add(std::string_view name, std::initializer_list<int> head, const bytes& rest = {}) const {
    std::ofstream out(where_ / name, std::ios::binary);
    for (const int each : head) out.put(static_cast<char>(each));
    for (const std::uint8_t each : rest) out.put(static_cast<char>(each));
  }

 private:
  std::filesystem::path where_;
};

bytes of_text(std::string_view text) { return {text.begin(), text.end()}; }

/// Of a peer that says what it has learnt by heart.
void add_scripts(const seed_folder& folder) {
  for (std::uint8_t context = 0; context < tandem::test::context_choices; ++context) {
    const auto [client, server] = conversation(context);
    const std::string number = std::to_string(context);
    folder.add("server_hears_a_client_" + number, {0, 0, context % 2, context, 1, 1, 0, 0}, client);
    folder.add("server_hears_pieces_" + number, {0, 0, 1, context, 2, 0, 9, 3, 0, 4, 40}, client);
    folder.add("client_hears_a_server_" + number, {0, 1, context % 2, context, 3, 1, 0, 0}, server);
    folder.add("client_hears_pieces_" + number, {0, 1, 1, context, 4, 2, 0, 2, 6, 90}, server);
  }
  const bytes alert{21, 3, 3, 0, 2, 2, 40};
  const bytes huge_record{22, 3, 1, 0xFF, 0xFF, 1, 0, 0, 1, 0, 0, 0};
  const bytes empty_records{22, 3, 1, 0, 0, 22, 3, 1, 0, 0, 20, 3, 3, 0, 1, 1};
  const bytes old_hello{0x80, 0x2E, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10, 1, 0, 0x80};
  for (const int asked : {0, 1}) {
    const std::string who = asked == 0 ? "server_hears_" : "client_hears_";
    folder.add(who + "nothing", {0, asked, 0, 0, 1, 1, 0, 0});
    folder.add(who + "silence", {0, asked, 1, 0, 1, 0, 0, 0});
    folder.add(who + "a_reset", {0, asked, 0, 0, 1, 2, 0, 0});
    folder.add(who + "http", {0, asked, 0, 0, 1, 1, 0, 0}, of_text("GET / HTTP/1.1\r\n\r\n"));
    folder.add(who + "an_alert", {0, asked, 0, 0, 1, 1, 0, 0}, alert);
    folder.add(who + "a_huge_record", {0, asked, 1, 0, 1, 1, 0, 0}, huge_record);
    folder.add(who + "empty_records", {0, asked, 1, 0, 1, 1, 0, 1, 0}, empty_records);
    folder.add(who + "an_old_hello", {0, asked, 0, 1, 1, 1, 0, 0}, old_hello);
  }
}

/// Of somebody between the two.
void add_changes(const seed_folder& folder) {
  constexpr std::array kinds{"split", "flip",  "drop", "duplicate",
                             "cut",   "break", "swap", "insert"};
  for (int context = 0; context < 4; ++context) {
    folder.add("unchanged_" + std::to_string(context),
               {1, context, 0, 0, 63, context, 1, context, context, context, 1, 40 * context});
  }
  for (int kind = 0; kind < 8; ++kind) {
    for (const int side : {0, 1}) {
      const std::string name =
          std::string(side == 0 ? "client_" : "server_") + kinds.at(static_cast<std::size_t>(kind));
      folder.add(name, {1,    kind % 4, 1,
                        0,    20,       kind % 2,
                        0,    4,        9,
                        kind, 1,        30,  //
                        kind, side,     1 + kind % 3,
                        0,    20,       kind,
                        side, 4,        1,
                        7});
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const seed_folder folder(arguments[1]);
  add_scripts(folder);
  add_changes(folder);
}
