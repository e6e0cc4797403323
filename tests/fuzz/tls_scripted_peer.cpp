// tls_scripted_peer.cpp: a peer whose bytes are made up, cut at any place, for a server and for a client.
// SPDX-License-Identifier: MIT
//
// An input: who is asked; its context; how the bytes end; how many bytes a piece has, in a row of
// lengths that begins anew when it is over; the bytes. Nobody who makes up bytes gets in.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "tls_run.hpp"

namespace tandem::test {

namespace {

using io::any_stream;

class script {
 public:
  explicit script(fuzz_input& input)
      : asks_client(input.one_of(2) == 1),
        tries(input.one_of(2) == 1),
        context(input.one_of(context_choices)),
        seed(input.byte()),
        last(static_cast<pipe_end>(input.one_of(3))),
        most(input.byte()) {
    std::vector<std::size_t> lengths(input.one_of(9));
    for (std::size_t& each : lengths) each = 1U + input.byte();
    bytes = input.rest();
    if (lengths.empty()) lengths.push_back(bytes.size() + 1);
    for (std::size_t at = 0; !input.rest().empty(); ++at) {
      const auto piece = std::as_bytes(input.take(lengths[at % lengths.size()]));
      pieces.emplace_back(piece.begin(), piece.end());
    }
  }

  bool asks_client;
  bool tries;
  std::uint8_t context;
  std::uint8_t seed;
  pipe_end last;
  std::size_t most;  // bytes that a write of ours takes; 0: all
  std::span<const std::uint8_t> bytes;
  std::vector<std::vector<std::byte>> pieces;
};

/// Takes whatever we send, and throws it away.
class deaf_wire : public fuzz_wire {
 public:
  deaf_wire() : fuzz_wire(std::make_shared<fuzz_pipe>()) {}
  task<void> pass(std::vector<std::byte> /*flight*/) override { co_return; }
};

any_stream stream_of(const script& plan, std::shared_ptr<fuzz_pipe> from) {
  const std::size_t most = plan.most == 0 ? 65536 : plan.most;
  auto to = std::make_shared<deaf_wire>();
  if (plan.tries) return trying_fuzz_stream(std::move(from), std::move(to), most);
  return fuzz_stream(std::move(from), std::move(to), most);
}

task<void> shake_hands_with(const script& plan, any_stream stream) {
  io::tls_stream made;
  if (plan.asks_client) {
    made = co_await io::tls::connect(std::move(stream), "localhost", fuzz_client(plan.context));
  } else {
    made = co_await io::tls::accept(std::move(stream), fuzz_server(plan.context));
  }
}

}  // namespace

void run_scripted_peer(fuzz_input input) {
  const script plan(input);
  run_fuzzed(plan.seed, [&plan]() -> task<void> {
    auto from = std::make_shared<fuzz_pipe>(plan.pieces.size() + 1);
    for (const auto& piece : plan.pieces) co_await from->give(piece);
    if (plan.last != pipe_end::open) from->end(plan.last);
    any_stream stream = stream_of(plan, from);
    const bool well = co_await ends_well(shake_hands_with(plan, std::move(stream)));
    require(!well, "nobody gets in who makes up bytes");
  });
}

}  // namespace tandem::test
