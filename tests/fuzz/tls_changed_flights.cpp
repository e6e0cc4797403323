// tls_changed_flights.cpp: a client and a server of ours, between whom somebody changes what is sent.
// SPDX-License-Identifier: MIT
//
// An input: both contexts; how the streams below behave; how many bytes are echoed; then the changes,
// of five bytes each. Whatever is changed, nobody takes a byte that the other one has not sent, or an
// end for one in order that is none.
#include <algorithm>
#include <memory>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "tls_run.hpp"

namespace tandem::test {

namespace {

using io::any_stream;
using io::tls_stream;

enum class change_kind : std::uint8_t {
  split,
  flip,
  drop,
  duplicate,
  cut,
  break_off,
  swap,
  insert
};
constexpr std::uint8_t change_kinds = 8;
constexpr std::size_t most_duplicated = std::size_t{256} * 1024;

/// What becomes of one flight.
class change {
 public:
  explicit change(fuzz_input& input)
      : kind(static_cast<change_kind>(input.one_of(change_kinds))),
        of_client(input.byte() % 2 == 0),
        flight(input.one_of(16)),
        position(input.byte() * 256U),
        value(input.byte()) {
    position += value;
  }
  change_kind kind;
  bool of_client;
  std::uint8_t flight;
  std::size_t position;  // modulo the flight's size
  std::uint8_t value;
};

/// The streams of one side.
class side_plan {
 public:
  explicit side_plan(fuzz_input& input)
      : context(input.one_of(context_choices)),
        tries(input.one_of(2) == 1),
        most(input.byte()),
        pieces(1U + input.one_of(64)) {}
  std::uint8_t context;
  bool tries;
  std::size_t most;    // 256 times as many bytes are taken by a write; 0: all
  std::size_t pieces;  // that wait for the reader at most
};

class flights_plan {
 public:
  explicit flights_plan(fuzz_input& input)
      : client(input), server(input), seed(input.byte()), updates_keys(input.one_of(2) == 1) {
    sent = pattern(input.byte() * 300U, seed);
    while (input.rest().size() >= 5 && changes.size() < 20) changes.emplace_back(input);
  }
  side_plan client;
  side_plan server;
  std::uint8_t seed;
  bool updates_keys;
  std::vector<std::byte> sent;
  std::vector<change> changes;
};

/// Applies the changes of one direction.
class changing_wire : public fuzz_wire {
 public:
  changing_wire(std::shared_ptr<fuzz_pipe> to, const flights_plan& plan, bool of_client,
                int& changed)
      : fuzz_wire(std::move(to)), plan_(plan), of_client_(of_client), changed_(changed) {}

  task<void> pass(std::vector<std::byte> flight) override {
    std::size_t split = 0;
    bool is_held = false;
    const unsigned number = count_++;
    for (const change& each : plan_.changes) {
      if (each.flight != number || each.of_client != of_client_ || flight.empty()) continue;
      if (each.kind == change_kind::split) {
        split = each.position % flight.size();
      } else {
        ++changed_;
        apply(each, flight, is_held);
      }
    }
    if (is_held) {
      held_ = std::move(flight);
      co_return;
    }
    split = std::min(split, flight.size());
    const auto middle = flight.begin() + static_cast<std::ptrdiff_t>(split);
    co_await to().give({flight.begin(), middle});
    co_await to().give({middle, flight.end()});
    co_await to().give(std::exchange(held_, {}));
    if (then_ != pipe_end::open) to().end(then_);
  }

 private:
  void apply(const change& what, std::vector<std::byte>& flight, bool& is_held) {
    const auto at = flight.begin() + static_cast<std::ptrdiff_t>(what.position % flight.size());
    switch (what.kind) {
      case change_kind::flip: *at ^= static_cast<std::byte>(what.value | 1U); break;
      case change_kind::drop: flight.clear(); break;
      case change_kind::duplicate: {
        if (flight.size() > most_duplicated) break;  // again and again it would be gigabytes
        const std::vector<std::byte> again = flight;
        flight.insert(flight.end(), again.begin(), again.end());
        break;
      }
      case change_kind::cut:
      case change_kind::break_off:
        flight.erase(at, flight.end());
        then_ = what.kind == change_kind::cut ? pipe_end::ended : pipe_end::broken;
        break;
      case change_kind::swap: is_held = true; break;
      default: flight.insert(at, 1U + what.value % 40U, static_cast<std::byte>(what.value)); break;
    }
  }

  const flights_plan& plan_;
  bool of_client_;
  int& changed_;
  unsigned count_ = 0;
  std::vector<std::byte> held_;
  pipe_end then_ = pipe_end::open;
};

/// What one side has seen.
class sight {
 public:
  std::vector<std::byte> got;
  bool has_read_all = false;  // its peer's own word
  bool farewell = false;      // what finish() says
};

task<void> read_all(tls_stream& from, sight& seen, tls_stream* echo_to) {
  std::vector<std::byte> room(4096);
  while (const std::size_t n = co_await from.read(room)) {
    const auto part = std::span<const std::byte>(room).first(n);
    seen.got.insert(seen.got.end(), part.begin(), part.end());
    if (echo_to != nullptr) co_await echo_to->write_all(part);
  }
  seen.has_read_all = true;
}

task<void> write_all(tls_stream& to, const flights_plan& plan) {
  const auto half = plan.sent.size() / 2;
  co_await to.write_all(std::span(plan.sent).first(half));
  const bool can_update = to.details().version == io::tls::version::tls1_3;
  if (plan.updates_keys && can_update) to.update_keys(true);
  co_await to.write_all(std::span(plan.sent).subspan(half));
  to.shutdown();
}

task<void> be_client(const flights_plan& plan, any_stream below, sight& seen) {
  const auto& context = fuzz_client(plan.client.context);
  tls_stream stream = co_await io::tls::connect(std::move(below), "localhost", context);
  co_await when_all(read_all(stream, seen, nullptr), write_all(stream, plan));
  seen.farewell = co_await stream.finish(std::chrono::seconds(1));
}

task<void> be_server(const flights_plan& plan, any_stream below, sight& seen) {
  const auto& context = fuzz_server(plan.server.context);
  tls_stream stream = co_await io::tls::accept(std::move(below), context);
  co_await read_all(stream, seen, &stream);
  seen.farewell = co_await stream.finish(std::chrono::seconds(1));
}

any_stream stream_of(const side_plan& plan, std::shared_ptr<fuzz_pipe> from,
                     std::shared_ptr<fuzz_wire> to) {
  const std::size_t most = plan.most == 0 ? 1U << 20U : plan.most * 256U;
  if (plan.tries) return trying_fuzz_stream(std::move(from), std::move(to), most);
  return fuzz_stream(std::move(from), std::move(to), most);
}

void expect_honest(const sight& seen, const std::vector<std::byte>& sent) {
  require(
      seen.got.size() <= sent.size() && std::equal(seen.got.begin(), seen.got.end(), sent.begin()),
      "what is read was written by the peer, in this order");
  require(!seen.has_read_all || seen.got.size() == sent.size(),
          "an end in order comes after everything that was written");
}

}  // namespace

void run_changed_flights(fuzz_input input) {
  const flights_plan plan(input);
  sight client;
  sight server;
  int changed = 0;
  int well = 0;
  run_fuzzed(plan.seed, [&]() -> task<void> {
    const auto there = std::make_shared<fuzz_pipe>(plan.server.pieces);
    const auto back = std::make_shared<fuzz_pipe>(plan.client.pieces);
    const auto up = std::make_shared<changing_wire>(there, plan, true, changed);
    const auto down = std::make_shared<changing_wire>(back, plan, false, changed);
    any_stream one = stream_of(plan.client, back, up);
    any_stream other = stream_of(plan.server, there, down);
    auto [client_well, server_well] =
        co_await when_all(ends_well(be_client(plan, std::move(one), client)),
                          ends_well(be_server(plan, std::move(other), server)));
    well = (client_well ? 1 : 0) + (server_well ? 1 : 0);
  });
  expect_honest(server, plan.sent);
  expect_honest(client, plan.sent);
  if (changed != 0) return;
  require(well == 2 && client.has_read_all && server.has_read_all, "unchanged, all goes well");
  require(client.farewell && server.farewell, "unchanged, both say farewell");
}

}  // namespace tandem::test
