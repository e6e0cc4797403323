// subscriber.cpp: see subscriber.hpp
// SPDX-License-Identifier: MIT
#include <tandem/io/redis/subscriber.hpp>

#include <tandem/io/redis/argument.hpp>
#include <tandem/io/redis/reply.hpp>
#include <utility>

#include "redis/conversation.hpp"

namespace tandem::inline v0::io::redis {
namespace {

using detail::conversation;
using detail::formatted;
using detail::manners;
using detail::request;
using detail::subscriptions;
using held_conversation = std::shared_ptr<conversation>;

task<subscriber> opened(options where, std::size_t max_buffered_bytes) {
  auto messages = std::make_unique<subscriptions>(max_buffered_bytes);
  auto made =
      std::make_shared<conversation>(std::move(where), manners::private_, std::move(messages));
  co_await made->open();
  co_return subscriber(std::move(made));
}

task<void> ask(held_conversation with, formatted command, std::size_t count) {
  replies answers(count);
  request asked(command.bytes(), answers.data(), count);
  co_await with->run_limited(asked);
  for (const reply& each : answers) each.check();
}

task<std::optional<message>> next_of(held_conversation with) { co_return co_await with->next(); }

}  // namespace

subscriber::subscriber() noexcept = default;
subscriber::subscriber(const subscriber&) noexcept = default;
subscriber::subscriber(subscriber&&) noexcept = default;
subscriber& subscriber::operator=(const subscriber&) noexcept = default;
subscriber& subscriber::operator=(subscriber&&) noexcept = default;
subscriber::~subscriber() = default;
subscriber::subscriber(std::shared_ptr<detail::conversation> with) noexcept
    : with_(std::move(with)) {}

task<subscriber> subscriber::connect(options where, std::size_t max_buffered_bytes) {
  return opened(std::move(where), max_buffered_bytes);
}

task<subscriber> subscriber::connect(std::string url, std::size_t max_buffered_bytes) {
  return connect(options::parse(url), max_buffered_bytes);
}

task<void> subscriber::subscribe(std::vector<std::string> names) {
  return change("SUBSCRIBE", names);
}
task<void> subscriber::subscribe(std::string name) {
  return change("SUBSCRIBE", std::span(&name, 1));
}
task<void> subscriber::subscribe_patterns(std::vector<std::string> names) {
  return change("PSUBSCRIBE", names);
}
task<void> subscriber::subscribe_patterns(std::string name) {
  return change("PSUBSCRIBE", std::span(&name, 1));
}
task<void> subscriber::unsubscribe(std::vector<std::string> names) {
  return change("UNSUBSCRIBE", names);
}
task<void> subscriber::unsubscribe(std::string name) {
  return change("UNSUBSCRIBE", std::span(&name, 1));
}
task<void> subscriber::unsubscribe_patterns(std::vector<std::string> names) {
  return change("PUNSUBSCRIBE", names);
}
task<void> subscriber::unsubscribe_patterns(std::string name) {
  return change("PUNSUBSCRIBE", std::span(&name, 1));
}

task<void> subscriber::change(const char* command, std::span<const std::string> names) {
  if (with_ == nullptr) throw error(errc::closed, "a redis::subscriber that was never connected");
  if (names.empty()) throw error(errc::bad_option, std::string(command) + ": without a name");
  std::vector<argument> words;
  words.reserve(names.size() + 1);
  words.emplace_back(command);
  for (const std::string& each : names) words.emplace_back(each);
  return ask(with_, formatted(words), names.size());
}

task<std::optional<message>> subscriber::next() {
  if (with_ == nullptr) throw error(errc::closed, "a redis::subscriber that was never connected");
  return next_of(with_);
}

void subscriber::close() noexcept {
  if (with_ != nullptr) with_->close();
}

}  // namespace tandem::inline v0::io::redis
