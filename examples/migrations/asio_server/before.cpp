// before.cpp: a chat room on Asio, in the callback style of its tutorials: sessions that keep themselves alive.
// SPDX-License-Identifier: MIT
//
// One thread runs the context, so nothing is locked. A session lives as long as a handler or the
// room holds it; whatever a handler finds may have been closed before it runs.
#include <array>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../settings.hpp"
#include "words.hpp"

namespace {

using namespace migrations;
using asio::ip::tcp;
using std::error_code;

class session;

class room {
 public:
  room(asio::io_context& context, const settings& chosen) : context_(context), grace_(context) {
    grace_time_ = chosen.grace;
  }

  bool is_draining() const { return draining_; }
  bool enter(const std::string& name, session& who);
  void leave(const std::string& name);
  void tell(const message& text, const session* but = nullptr);
  void say_aloud(std::string text, const session& who);
  message history() const;
  std::string names() const;
  void add(const std::shared_ptr<session>& who) { sessions_.insert(who); }
  void forget(const std::shared_ptr<session>& who) {
    sessions_.erase(who);
    if (draining_ && sessions_.empty()) context_.stop();
  }
  void drain();

 private:
  asio::io_context& context_;
  asio::steady_timer grace_;
  std::chrono::milliseconds grace_time_{};
  bool draining_ = false;
  std::map<std::string, session*> members_;
  std::set<std::shared_ptr<session>> sessions_;
  std::deque<message> said_;
};

class session : public std::enable_shared_from_this<session> {
 public:
  session(tcp::socket socket, room& where, const settings& chosen)
      : socket_(std::move(socket)),
        idle_(socket_.get_executor()),
        write_limit_(socket_.get_executor()),
        room_(where),
        chosen_(chosen) {}

  void start() {
    room_.add(shared_from_this());
    read();
  }
  /// From another member. @returns false: the queue is full
  bool deliver(const message& text) {
    if (queue_.size() >= chosen_.queue) return false;
    push(text);
    return true;
  }
  /// No further line is looked at; what is in the queue is still sent.
  void leave(const std::string& last_word) {
    if (leaving_) return;
    leaving_ = true;
    leave_room();
    if (!last_word.empty()) {
      push(say(last_word));
    } else if (writing_ == 0) {
      linger();
    }
  }
  void drain() {
    if (reading_) leave("BYE");
  }
  void close() {
    if (closed_) return;
    closed_ = leaving_ = true;
    leave_room();
    error_code ignored;
    idle_.cancel();
    write_limit_.cancel();
    socket_.close(ignored);
    room_.forget(shared_from_this());
  }

 private:
  void leave_room() {
    if (!name_.empty()) room_.leave(std::exchange(name_, {}));
  }

  // Reading

  void read() {
    if (leaving_) return;
    if (room_.is_draining() && in_.find('\n') == in_.npos) return leave("BYE");
    reading_ = true;
    limit(idle_);
    asio::async_read_until(socket_, asio::dynamic_buffer(in_, longest_line + 1), '\n',
                           [self = shared_from_this()](error_code error, std::size_t size) {
                             self->on_line(error, size);
                           });
  }
  void on_line(error_code error, std::size_t size) {
    reading_ = false;
    if (leaving_) return;
    if (error == asio::error::not_found) return leave("ERROR line too long");
    if (error) return leave("");
    const std::string line = in_.substr(0, size - 1);
    in_.erase(0, size);
    obey(command(line));
    read_if_room();
  }
  void read_if_room() {
    if (!reading_ && queue_.size() < chosen_.queue) read();
  }
  void limit(asio::steady_timer& timer) {
    timer.expires_after(chosen_.idle);
    timer.async_wait([self = shared_from_this(), &timer](error_code error) {
      // It may have expired, and been set anew, before this runs.
      if (!error && timer.expiry() <= asio::steady_timer::clock_type::now()) self->close();
    });
  }

  // Writing

  void push(const message& text) {
    queue_.push_back(text);
    if (writing_ == 0) write();
  }
  void write() {
    writing_ = queue_.size();
    std::vector<asio::const_buffer> all;
    all.reserve(writing_);
    for (const message& each : queue_) all.push_back(asio::buffer(*each));
    limit(write_limit_);
    asio::async_write(socket_, all, [self = shared_from_this()](error_code error, std::size_t) {
      self->on_written(error);
    });
  }
  void on_written(error_code error) {
    if (closed_) return;
    if (error) return close();
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(writing_));
    writing_ = 0;
    if (!queue_.empty()) {
      write();
    } else {
      write_limit_.cancel();
      if (leaving_) return linger();
    }
    read_if_room();
  }
  /// What it still sends is read, or a reset would overtake the last word.
  void linger() {
    if (closed_ || room_.is_draining()) return close();
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    limit(idle_);
    drop();
  }
  void drop() {
    socket_.async_read_some(asio::buffer(dropped_),
                            [self = shared_from_this()](error_code error, std::size_t) {
                              if (self->closed_) return;
                              if (error) return self->close();
                              self->drop();
                            });
  }

  // The job

  void obey(const command& said) {
    if (said.is("QUIT")) return leave("BYE");
    if (name_.empty()) {
      if (said.word != "NICK") return push(say("ERROR NICK first"));
      if (!is_name(said.argument)) return push(say("ERROR bad name"));
      std::string name(said.argument);
      if (!room_.enter(name, *this)) return push(say("ERROR that name is taken"));
      name_ = std::move(name);
      push(say("HELLO " + name_));
      if (auto before = room_.history(); !before->empty()) push(before);
      room_.tell(say("+ " + name_), this);
    } else if (said.word == "SAY" && !said.argument.empty()) {
      room_.say_aloud(name_ + ": " + std::string(said.argument), *this);
    } else if (said.is("WHO")) {
      push(say("HERE" + room_.names()));
    } else {
      push(say("ERROR bad command"));
    }
  }

  friend class room;

  tcp::socket socket_;
  asio::steady_timer idle_, write_limit_;
  room& room_;
  const settings& chosen_;
  std::string in_, name_;
  std::deque<message> queue_;
  std::size_t writing_ = 0;  // the first ones of the queue
  bool reading_ = false, leaving_ = false, closed_ = false;
  std::array<char, 4096> dropped_;
};

bool room::enter(const std::string& name, session& who) {
  return members_.try_emplace(name, &who).second;
}

void room::leave(const std::string& name) {
  members_.erase(name);
  if (!draining_) tell(say("- " + name));
}

void room::tell(const message& text, const session* but) {
  std::vector<std::shared_ptr<session>> too_slow;  // leaving changes the map
  for (const auto& [name, who] : members_) {
    if (who != but && !who->deliver(text)) too_slow.push_back(who->shared_from_this());
  }
  for (const auto& each : too_slow) each->close();
}

void room::say_aloud(std::string text, const session& who) {
  const message told = say(std::move(text));
  said_.push_back(told);
  if (said_.size() > longest_history) said_.pop_front();
  tell(told, &who);
  const_cast<session&>(who).push(told);
}

message room::history() const {
  std::string all;
  for (const message& each : said_) all += *each;
  return std::make_shared<const std::string>(std::move(all));
}

std::string room::names() const {
  std::string all;
  for (const auto& [name, who] : members_) all += " " + name;
  return all;
}

void room::drain() {
  draining_ = true;
  if (sessions_.empty()) return context_.stop();
  const auto all = sessions_;
  for (const auto& each : all) each->drain();
  grace_.expires_after(grace_time_);
  grace_.async_wait([this](error_code error) {
    if (!error) context_.stop();
  });
}

class server {
 public:
  server(asio::io_context& context, const settings& chosen)
      : chosen_(chosen),
        acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), chosen.port)),
        signals_(context, SIGINT, SIGTERM),
        pause_(context),
        room_(context, chosen) {
    announce(acceptor_.local_endpoint().port());
    signals_.async_wait([this](error_code error, int) {
      if (error) return;
      acceptor_.close();
      pause_.cancel();
      room_.drain();
    });
    accept();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<session>(std::move(socket), room_, chosen_)->start();
        return accept();
      }
      pause_.expires_after(std::chrono::milliseconds(5));  // no descriptor is left, or no memory
      pause_.async_wait([this](error_code stopped) {
        if (!stopped && acceptor_.is_open()) accept();
      });
    });
  }

  const settings& chosen_;
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  asio::steady_timer pause_;
  room room_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const settings chosen(argc, argv);
    asio::io_context context(1);
    server chat(context, chosen);
    context.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "before: %s\n", error.what());
    return 1;
  }
}
