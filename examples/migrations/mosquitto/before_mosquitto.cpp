// before_mosquitto.cpp: questions and answers over MQTT, with libmosquitto's callbacks in a loop of our own.
// SPDX-License-Identifier: MIT
//
// As libmosquitto(3) says for programs with a loop: mosquitto_socket and mosquitto_want_write for
// poll(), then mosquitto_loop_read, _write and, now and then, _misc. What is to be done next stands
// in the callbacks, and what they have to remember in `side` and `conversation`.
#include <mosquitto.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "job.hpp"

namespace {

using namespace migrations;

class conversation;

/// One client: who asks, or who answers.
struct side {
  conversation* both = nullptr;
  mosquitto* library = nullptr;
  const char* hears = nullptr;
  bool is_asking = false;
  bool is_subscribed = false;
  bool is_closing = false;  // on_disconnect comes for an end in order, too
};

class conversation {
 public:
  explicit conversation(job& chosen) : job_(chosen) {}
  conversation(const conversation&) = delete;
  ~conversation() {
    for (side& each : sides_) mosquitto_destroy(each.library);
    mosquitto_lib_cleanup();
  }

  int run() {
    mosquitto_lib_init();
    begin(sides_[0], "answering", questions);
    begin(sides_[1], "asking", answers);
    sides_[1].is_asking = true;
    const auto end = job::clock::now() + job_.limit;
    auto next_look = job::clock::now();
    while (failure_.empty() && !has_ended()) {
      const auto now = job::clock::now();
      if (now >= end) {
        fail("no answer in time");
      } else if (now >= next_look) {
        for (side& each : sides_) look_at_the_time(each);
        next_look = now + std::chrono::seconds(1);
      } else {
        wait(std::min(end, next_look) - now);
      }
    }
    return failure_.empty() ? job_.report() : job::failed(failure_);
  }

 private:
  static side& self(void* data) { return *static_cast<side*>(data); }

  void begin(side& of, const char* id, const char* topic) {
    of.both = this;
    of.hears = topic;
    of.library = mosquitto_new(id, true, &of);
    if (of.library == nullptr) return fail(std::strerror(errno));
    mosquitto_int_option(of.library, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_connect_callback_set(of.library, [](mosquitto*, void* to, int code) {
      self(to).both->on_connect(self(to), code);
    });
    mosquitto_disconnect_callback_set(of.library, [](mosquitto*, void* to, int code) {
      self(to).both->on_disconnect(self(to), code);
    });
    mosquitto_subscribe_callback_set(
        of.library, [](mosquitto*, void* to, int, int count, const int* granted) {
          self(to).both->on_subscribe(self(to), count > 0 ? *granted : 128);
        });
    mosquitto_publish_callback_set(of.library,
                                   [](mosquitto*, void* to, int) { self(to).both->on_publish(); });
    mosquitto_message_callback_set(
        of.library, [](mosquitto*, void* to, const mosquitto_message* message) {
          self(to).both->on_message(self(to), {static_cast<const char*>(message->payload),
                                               static_cast<std::size_t>(message->payloadlen)});
        });
    check(mosquitto_connect_async(of.library, "127.0.0.1", job_.port, ping_seconds));
  }

  void on_connect(side& of, int code) {
    if (code != 0) return fail(mosquitto_connack_string(code));
    check(mosquitto_subscribe(of.library, nullptr, of.hears, at_least_once));
  }

  void on_subscribe(side& of, int granted) {
    if (granted > 2) return fail(mosquitto_strerror(MOSQ_ERR_ACL_DENIED));
    of.is_subscribed = true;
    if (!sides_[0].is_subscribed || !sides_[1].is_subscribed) return;
    for (std::size_t i = 0; i < job_.window; ++i) ask_next();
  }

  void on_message(side& of, std::string_view text) {
    if (!of.is_asking) return publish(of, answers, text);
    if (job_.take(text) == job_.messages) return;  // it comes a second time
    ask_next();
    end_if_done();
  }

  // Both have to be acknowledged before the end: the question, and its answer.
  void on_publish() {
    --unacknowledged_;
    end_if_done();
  }

  void on_disconnect(side& of, int code) {
    if (!of.is_closing || code != 0)
      fail(code == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(code));
  }

  void ask_next() {
    if (asked_ == job_.messages) return;
    publish(sides_[1], questions, job_.ask(asked_++));
  }

  void publish(side& of, const char* topic, std::string_view text) {
    ++unacknowledged_;
    check(mosquitto_publish(of.library, nullptr, topic, static_cast<int>(text.size()), text.data(),
                            at_least_once, false));
  }

  void end_if_done() {
    if (!job_.is_done() || unacknowledged_ != 0) return;
    for (side& each : sides_) {
      each.is_closing = true;
      mosquitto_disconnect(each.library);  // written by the loop: we may be in a callback of its
    }
  }
  bool has_ended() const {
    return sides_[0].is_closing && mosquitto_socket(sides_[0].library) < 0 &&
           mosquitto_socket(sides_[1].library) < 0;
  }

  void wait(job::clock::duration most) {
    std::array<pollfd, 2> asked{};
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      asked[i].fd =
          mosquitto_socket(sides_[i].library);  // -1, which poll() passes over, when it is closed
      asked[i].events =
          static_cast<short>(mosquitto_want_write(sides_[i].library) ? POLLIN | POLLOUT : POLLIN);
    }
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(most).count();
    if (::poll(asked.data(), asked.size(), static_cast<int>(timeout)) < 0 && errno != EINTR)
      return fail(std::strerror(errno));
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      // A callback of the first may have closed the second.
      if ((asked[i].revents & ~POLLOUT) != 0 && mosquitto_socket(sides_[i].library) >= 0)
        mosquitto_loop_read(sides_[i].library, 1);
      if ((asked[i].revents & POLLOUT) != 0 && mosquitto_socket(sides_[i].library) >= 0)
        mosquitto_loop_write(sides_[i].library, 1);
    }
  }
  void look_at_the_time(side& of) {
    if (mosquitto_socket(of.library) >= 0) mosquitto_loop_misc(of.library);
  }

  void check(int code) {
    if (code == MOSQ_ERR_ERRNO) return fail(std::strerror(errno));
    if (code != MOSQ_ERR_SUCCESS) fail(mosquitto_strerror(code));
  }
  void fail(std::string_view why) {
    if (failure_.empty()) failure_ = why;  // the first one; what follows is its consequence
  }

  job& job_;
  std::array<side, 2> sides_;
  std::size_t asked_ = 0;
  std::size_t unacknowledged_ = 0;
  std::string failure_;
};

}  // namespace

int main(int argc, char** argv) {
  job chosen(argc, argv);
  conversation both(chosen);
  return both.run();
}
