// link.cpp: see link.hpp
// SPDX-License-Identifier: MIT
#include "redis/link.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tandem/clock.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/redis/batch.hpp>
#include <tandem/io/redis/errors.hpp>
#include <utility>

namespace tandem::inline v0::io::redis::detail {
namespace {

constexpr std::size_t first_room = std::size_t{16} << 10;
constexpr std::size_t most_room = std::size_t{256} << 10;

constexpr std::string_view ping = "PING";
constexpr std::string_view auth = "AUTH";

/// What a server says of PING though it can be used: this user may not ask for it, a script is
/// running (which SCRIPT KILL ends), or there are no writes.
bool is_usable_all_the_same(std::string_view text) noexcept {
  return text.starts_with("NOPERM") || text.starts_with("BUSY ") || text.starts_with("MISCONF");
}

/// What the server has said about the greeting. Whatever it says about AUTH is about who we are.
void check_greeting(const reply& got, const options& where, std::string_view asked) {
  if (!got.is_error()) return;
  const std::string text(got.text());
  if (asked == ping && is_usable_all_the_same(text)) return;
  errc kind = errc_of(text);
  if (asked == auth && kind == errc::server_error) kind = errc::no_auth;
  std::string told = where.place() + ": " + std::string(asked) + ": " + text;
  // Said to whoever comes, whatever it has asked: it may come again.
  if (text.starts_with("ERR max number of clients")) {
    kind = errc::refused;
    told = where.place() + ": " + text;
  }
  if (text.find("without any password configured") != std::string::npos) {
    told += " (this server has no password: leave it out)";
  }
  throw error(kind, told, text);
}

}  // namespace

greeting::greeting(const options& where) {
  if (!where.password.empty()) {
    const argument with_name[] = {"AUTH", where.username, where.password};
    const std::span<const argument> all(with_name);
    const argument without_name[] = {"AUTH", where.password};
    add(where.username.empty() ? std::span<const argument>(without_name) : all, 1,
        std::string(auth));
  }
  if (!where.client_name.empty()) {
    const argument words[] = {"CLIENT", "SETNAME", where.client_name};
    add(words, 1, "CLIENT SETNAME " + where.client_name);
  }
  if (where.database != 0) {
    const argument words[] = {"SELECT", where.database};
    add(words, 1, "SELECT " + std::to_string(where.database));
  }
}

void greeting::add(std::span<const argument> words, std::size_t count, std::string called) {
  bytes += formatted(words).bytes();
  answers += count;
  parts_.push_back(part{std::move(called), answers});
}

void greeting::add_ping() {
  const argument words[] = {ping};
  add(words, 1, std::string(ping));
}

std::string_view greeting::asked(std::size_t number) const noexcept {
  const auto is_it = [number](const part& each) { return number < each.end; };
  const auto found = std::ranges::find_if(parts_, is_it);
  return found != parts_.end() ? std::string_view(found->called) : std::string_view();
}

std::string detail_of(const error& known) {
  std::string words = known.what();
  const std::string text = known.code().message();
  if (words == text) return {};
  const std::string tail = ": " + text;
  if (words.ends_with(tail)) words.resize(words.size() - tail.size());
  return words;
}

bool is_message(const reply& got) noexcept {
  const std::span<const reply> parts = got.elements();
  return (parts.size() == 3 && parts[0].text() == "message") ||
         (parts.size() == 4 && parts[0].text() == "pmessage");
}

link::link(const options& where) : answers(where.max_reply_bytes), room(first_room) {}

task<std::unique_ptr<link>> link::open(const options& where, const greeting& hello,
                                       bool takes_messages) {
  auto made = std::make_unique<link>(where);
  try {
    co_await made->connect(where);
    co_await made->greet(where, hello, takes_messages);
  } catch (const error&) {
    throw;
  } catch (const operation_cancelled&) {
    throw;
  } catch (const std::system_error& why) {
    throw error(errc::refused, where.place() + ": " + why.what());
  }
  made->last_write.store(tandem::now(), std::memory_order_relaxed);
  co_return made;
}

task<void> link::connect(const options& where) {
  if (!where.path.empty()) {
    local_ = co_await unix_stream::connect(unix_endpoint::parse(where.path));
    stream_ = &local_;
  } else {
    tcp_ = co_await tcp_stream::connect(where.host, where.port, where.tcp);
    stream_ = &tcp_;
  }
}

std::optional<reply> link::next_answer(const options& where, const greeting& hello,
                                       std::size_t seen) {
  try {
    return answers.next();
  } catch (const error& why) {  // no Redis, it seems
    const std::string asked(hello.asked(seen));
    throw error(why.kind(), where.place() + ": " + asked + ": " + detail_of(why));
  }
}

task<void> link::greet(const options& where, const greeting& hello, bool takes_messages) {
  if (hello.answers == 0) co_return;
  co_await stream_->write_all(bytes_of(hello.bytes));
  std::size_t seen = 0;
  while (seen < hello.answers) {
    const std::size_t got = co_await stream_->read(room);
    if (got == 0) {
      throw error(errc::refused,
                  where.place() + ": the server has closed the connection instead of a greeting");
    }
    answers.feed(std::span(room).first(got));
    while (std::optional<reply> each = next_answer(where, hello, seen)) {
      if (takes_messages && is_message(*each)) {
        early.push_back(std::move(*each));
        continue;
      }
      if (seen == hello.answers) {
        throw error(errc::protocol_error,
                    where.place() + ": an answer that nobody has asked for: " + each->to_string());
      }
      check_greeting(*each, where, hello.asked(seen));
      ++seen;
    }
  }
}

void link::cut() noexcept {
  try {
    stream_->shutdown(shutdown_kind::both);
  } catch (const std::system_error&) {  // it has ended already
    return;
  }
}

void link::grow_room() {
  if (room.size() < most_room) room.resize(room.size() * 4);
}

bool link::has_spun(std::chrono::microseconds span) noexcept {
  if (tandem::now() < last_write.load(std::memory_order_relaxed) + span) return false;
  spin_pause = std::min(2 * spin_pause + 1, 255U);
  reads_until_spin = spin_pause;
  return true;
}

}  // namespace tandem::inline v0::io::redis::detail
