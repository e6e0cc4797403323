// happy_eyeballs.cpp: connecting to whichever address answers first (RFC 8305).
// SPDX-License-Identifier: MIT
#include <tandem/io/happy_eyeballs.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>

namespace tandem::inline v0::io {

namespace {

class attempt {
 public:
  event failed;
  std::error_code error;  // written before failed is set; read after it, or after the scope
};

/// The attempts of one connect(); in its frame.
class contest {
 public:
  contest(std::vector<endpoint>&& order, const happy_eyeballs_options& options)
      : order_(std::move(order)), options_(options), attempts_(order_.size()) {}

  /// The body of the scope in which the attempts are children.
  task<void> run(task_scope& scope) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      scope.spawn(try_one(scope, i));
      if (i + 1 == order_.size()) break;
      // Ends early if this attempt fails, or if one of them has won, which stops the scope.
      (void)co_await as_result(with_timeout(options_.attempt_delay, attempts_[i].failed.wait()));
      if (scope.stop_requested()) break;
    }
  }

  // After the scope.
  bool has_winner() const noexcept { return winner_.is_open(); }
  tcp_stream take_winner() noexcept { return std::move(winner_); }
  [[noreturn]] void throw_failures() const {
    std::string text =
        "tcp_stream::connect: none of " + std::to_string(order_.size()) + " addresses answered (";
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i != 0) text += "; ";
      text += order_[i].to_string() + ": " + attempts_[i].error.message();
    }
    throw std::system_error(attempts_.front().error, text + ")");
  }

 private:
  task<void> try_one(task_scope& scope, std::size_t index) {
    auto made = co_await as_result(tcp_stream::connect(order_[index], options_.connection));
    if (!made) {
      attempts_[index].error = made.error();
      attempts_[index].failed.set();
      co_return;
    }
    // Two may have made it before the stop reached them: the second one is closed with `made`.
    // Relaxed: only who is first matters; the scope's end publishes winner_.
    if (won_.exchange(true, std::memory_order_relaxed)) co_return;
    winner_ = std::move(made).value();
    scope.request_stop(stop_reason::race_lost);
  }

  const std::vector<endpoint> order_;
  const happy_eyeballs_options options_;
  std::vector<attempt> attempts_;
  std::atomic<bool> won_{false};
  tcp_stream winner_;
};

}  // namespace

std::vector<endpoint> detail::interleave_families(const std::vector<endpoint>& preferred) {
  std::vector<endpoint> order;
  order.reserve(preferred.size());
  if (preferred.empty()) return order;
  const address_family first = preferred.front().family();
  auto one = preferred.begin();
  auto other = preferred.begin();
  const auto take_next = [&](auto& at, bool of_first) {
    while (at != preferred.end() && (at->family() == first) != of_first) ++at;
    if (at != preferred.end()) order.push_back(*at++);
  };
  while (order.size() < preferred.size()) {
    take_next(one, true);
    take_next(other, false);
  }
  return order;
}

task<tcp_stream> tcp_stream::connect(std::vector<endpoint> candidates,
                                     happy_eyeballs_options options) {
  if (candidates.empty()) {
    throw std::invalid_argument("tcp_stream::connect was given no address");
  }
  if (candidates.size() == 1) {
    co_return co_await connect(candidates.front(), options.connection);
  }
  contest all(detail::interleave_families(candidates), options);
  const auto body = [&all](task_scope& scope) { return all.run(scope); };
  const auto ended = co_await as_result(with_scope(body));
  // A connection that was made before the caller's stop reached us is not thrown away.
  if (all.has_winner()) co_return all.take_winner();
  if (!ended) std::rethrow_exception(ended.exception());
  throw_if_stopped();
  all.throw_failures();
}

task<tcp_stream> tcp_stream::connect(std::string host, std::uint16_t port,
                                     happy_eyeballs_options options) {
  std::vector<endpoint> found = co_await resolve(std::move(host), port);
  co_return co_await connect(std::move(found), options);
}

}  // namespace tandem::inline v0::io
