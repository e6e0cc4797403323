// subscriptions.cpp: see subscriptions.hpp
// SPDX-License-Identifier: MIT
#include "redis/subscriptions.hpp"

#include <span>
#include <string_view>
#include <tandem/io/redis/argument.hpp>
#include <tandem/io/redis/errors.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::redis::detail {
namespace {

std::size_t weight(const message& of) noexcept {
  return sizeof of + of.channel.size() + of.pattern.size() + of.payload.size();
}

void ask_for(greeting& hello, const char* command, const std::set<std::string>& names) {
  if (names.empty()) return;
  std::vector<argument> words;
  words.reserve(names.size() + 1);
  words.emplace_back(command);
  for (const std::string& each : names) words.emplace_back(each);
  hello.add(words, names.size(), command);
}

}  // namespace

void subscriptions::add(reply&& got) {
  const std::span<const reply> parts = got.elements();
  const bool by_pattern = parts.size() == 4;
  const std::size_t channel = by_pattern ? 2 : 1;
  message made(parts[channel].as<std::string>(),
               by_pattern ? parts[1].as<std::string>() : std::string(),
               parts[channel + 1].as<std::string>());
  const std::size_t bytes = weight(made);
  if (bytes > most_bytes_ || bytes_ > most_bytes_ - bytes) {
    throw error(errc::overflow, "more than " + std::to_string(most_bytes_) + " bytes of messages");
  }
  messages_.push_back(std::move(made));
  bytes_ += bytes;
}

void subscriptions::add_gap() {
  if (!messages_.empty() && messages_.back().is_gap()) return;
  messages_.push_back(message::gap());
  bytes_ += weight(messages_.back());
}

void subscriptions::note(const reply& confirmed) {
  const std::span<const reply> parts = confirmed.elements();
  if (parts.size() != 3) return;
  const std::string_view what = parts[0].text();
  const std::string name(parts[1].text());
  if (what == "subscribe") channels_.insert(name);
  if (what == "unsubscribe") channels_.erase(name);
  if (what == "psubscribe") patterns_.insert(name);
  if (what == "punsubscribe") patterns_.erase(name);
}

void subscriptions::greet(greeting& hello) const {
  ask_for(hello, "SUBSCRIBE", channels_);
  ask_for(hello, "PSUBSCRIBE", patterns_);
}

message subscriptions::take() {
  message oldest = std::move(messages_.front());
  messages_.pop_front();
  bytes_ -= weight(oldest);
  return oldest;
}

}  // namespace tandem::inline v0::io::redis::detail
