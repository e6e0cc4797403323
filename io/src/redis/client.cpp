// client.cpp: commands, pipelines and transactions, each a request of a conversation.
// SPDX-License-Identifier: MIT
#include <tandem/io/redis/client.hpp>

#include <algorithm>
#include <array>
#include <tandem/io/redis/transactions.hpp>
#include <utility>

#include "redis/conversation.hpp"

namespace tandem::inline v0::io::redis {
namespace {

using detail::conversation;
using detail::formatted;
using detail::manners;
using detail::request;
using held_conversation = std::shared_ptr<conversation>;

constexpr std::size_t cost_of_answer = 64;

std::size_t cost_of(const conversation& with, const request& asked) noexcept {
  const std::size_t all = asked.bytes.size() + asked.expected * cost_of_answer;
  return std::min({all, with.where().max_unanswered_bytes, semaphore::max});
}

task<reply> ask_one(held_conversation with, formatted command) {
  reply answer;
  request asked(command.bytes(), &answer, 1);
  asked.cost = cost_of(*with, asked);
  if (with->where().limit) {
    co_await with->run_limited(asked);
  } else {
    co_await with->run(asked);
  }
  answer.check();
  co_return answer;
}

task<replies> ask_all(held_conversation with, std::string bytes, std::size_t count) {
  replies answers(count);
  if (count == 0) co_return answers;
  request asked(bytes, answers.data(), count);
  asked.cost = cost_of(*with, asked);
  co_await with->run_limited(asked);
  co_return answers;
}

/// What EXEC has answered.
replies executed(replies all) {
  const std::size_t count = all.size() - 2;
  all.front().check();
  reply& exec = all.back();
  if (exec.is_error()) {
    for (std::size_t each = 1; each <= count; ++each) {
      if (!all[each].is_error()) continue;
      const std::string why(all[each].text());
      throw error(errc::transaction_refused, "command " + std::to_string(each) + ": " + why, why);
    }
    exec.check();
  }
  if (exec.is_nil()) throw error(errc::aborted, {});
  return std::move(exec).as<replies>();
}

task<replies> ask_transaction(held_conversation with, batch commands) {
  if (commands.empty()) co_return replies();
  const argument multi[] = {"MULTI"};
  const argument exec[] = {"EXEC"};
  std::string bytes(formatted(multi).bytes());
  bytes += commands.bytes();
  bytes += formatted(exec).bytes();
  replies all = co_await ask_all(with, std::move(bytes), commands.size() + 2);
  co_return executed(std::move(all));
}

task<client> opened(options where, manners kind) {
  auto made = std::make_shared<conversation>(std::move(where), kind);
  co_await made->open();
  co_return client(std::move(made));
}

}  // namespace

client::client() noexcept = default;
client::client(const client&) noexcept = default;
client::client(client&&) noexcept = default;
client& client::operator=(const client&) noexcept = default;
client& client::operator=(client&&) noexcept = default;
client::~client() = default;
client::client(std::shared_ptr<detail::conversation> with) noexcept : with_(std::move(with)) {}

task<client> client::connect(options where) { return opened(std::move(where), manners::shared); }

task<client> client::connect(std::string url) { return connect(options::parse(url)); }

client client::later(options where) {
  return client(std::make_shared<conversation>(std::move(where), manners::shared));
}

task<client> client::own_connection() const {
  options where = conversation_or_throw().where();
  where.reconnect = false;
  return opened(std::move(where), manners::private_);
}

detail::conversation& client::conversation_or_throw() const {
  if (with_ == nullptr) throw error(errc::closed, "a redis::client that was never connected");
  return *with_;
}

task<reply> client::command_words(std::span<const argument> words) {
  formatted command(words, conversation_or_throw().kind());
  return ask_one(with_, std::move(command));
}

task<replies> client::pipeline(batch commands) {
  (void)conversation_or_throw();
  const std::size_t count = commands.size();
  return ask_all(with_, std::move(commands).take_bytes(), count);
}

task<replies> client::transaction(batch commands) {
  (void)conversation_or_throw();
  return ask_transaction(with_, std::move(commands));
}

void client::close() noexcept {
  if (with_ != nullptr) with_->close();
}

bool client::is_connected() const noexcept { return with_ != nullptr && with_->is_up(); }

namespace detail {

task<void> watch(client& own, const std::vector<std::string>& keys) {
  std::vector<argument> words;
  words.reserve(keys.size() + 1);
  words.emplace_back("WATCH");
  for (const std::string& each : keys) words.emplace_back(each);
  (void)co_await own.command_words(words);
}

task<bool> conclude(client& own, batch decided, replies& answers) {
  if (decided.empty()) {
    (void)co_await own.command("UNWATCH");
    co_return true;
  }
  const std::size_t count = decided.size();
  try {
    answers = co_await own.transaction(std::move(decided));
  } catch (const error& why) {
    if (why.kind() != errc::aborted) throw;
    co_return false;
  }
  co_return answers.size() == count;
}

void throw_aborted(unsigned tries) {
  throw error(errc::aborted, "in each of " + std::to_string(tries) + " tries");
}

}  // namespace detail
}  // namespace tandem::inline v0::io::redis
