// callbacks.cpp: libraries that call back, awaited: in C++, in C, with borrowed arguments, with a stop, many times.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <stop_token>
#include <string>
#include <tandem/callback_stream.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/run.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

// Five libraries. In C++: it calls from a thread of its own.
struct page_client {
  std::jthread thread;
  void fetch(std::string url, std::function<void(int, std::string)> done) {
    thread = std::jthread([url = std::move(url), done = std::move(done)] { done(200, url); });
  }
};

// In C: a function and a void*. The bytes are gone when the function has returned, and it has to say
// how many it took.
void load(const char* name, std::size_t (*function)(const char*, std::size_t, void*), void* data) {
  const std::string text = std::string("text of ") + name;
  if (function(text.data(), text.size(), data) != text.size()) std::cout << "not all\n";
}

// In C, with its void* in the middle and types of its own.
void measure(void (*function)(short tenths, void*, const char* unit), void* data) {
  function(215, data, "Celsius");
}

// It calls when there are news, or when it is told to give up.
struct news_poll {
  std::function<void(std::string)> done;
  void begin(std::function<void(std::string)> call) { done = std::move(call); }
  void give_up() noexcept { done("no news"); }
};

// It calls again and again, until it is told to stop.
struct sensor {
  std::jthread thread;
  void listen(std::function<void(int)> on_reading) {
    thread = std::jthread([on_reading = std::move(on_reading)](const std::stop_token& over) {
      for (int i = 1; !over.stop_requested(); ++i) on_reading(i);
    });
  }
  void ignore() { thread.request_stop(); }
};

// The libraries are made outside of the tasks: where one goes its thread is waited for.
tandem::task<bool> each_once(page_client& client) {
  auto [status, page] = co_await tandem::from_callback<void(int, std::string)>(
      [&](auto done) { client.fetch("index.html", std::move(done)); });
  auto text = co_await tandem::from_callback<std::size_t(const char*, std::size_t)>(
      [&](auto done) { load("notes", done.c_function(), done.c_data()); },
      [](const char* data, std::size_t size) {
        return tandem::returning(size, std::string(data, size));
      });
  using measured = tandem::callback<void(double)>;
  const double degrees = co_await tandem::from_callback<void(double)>([](auto done) {
    // No captures: where the void* is, and what the types are, is the lambda's business.
    const auto in_its_form = [](short tenths, void* data, const char*) {
      measured::c_function_first()(data, tenths / 10.0);
    };
    measure(in_its_form, done.c_data());
  });

  // A stop, here that of a time limit, has it give up; what it says then is the value.
  news_poll poll;
  auto news = co_await tandem::with_timeout(
      5ms, tandem::from_callback<void(std::string)>([&](auto done) { poll.begin(std::move(done)); },
                                                    tandem::as_values,
                                                    [&]() noexcept { poll.give_up(); }));
  std::cout << status << ' ' << page << ", " << text << ", " << degrees << ", " << news << '\n';
  co_return status == 200 && degrees == 21.5 && text == "text of notes" && news == "no news";
}

tandem::task<bool> many_readings(sensor& source) {
  int last = 0;
  auto subscribe = [&](auto on_reading) {
    source.listen(std::move(on_reading));
    return [&] { source.ignore(); };
  };
  co_await tandem::with_callbacks(
      tandem::callback_stream<int>(8, tandem::overflow_policy::drop_oldest, subscribe),
      [&](auto& readings) -> tandem::task<void> {
        while (auto one = co_await readings.next()) {
          last = *one;
          if (last > 1000) break;  // unsubscribes
        }
      });
  std::cout << "reading " << last << '\n';
  co_return last > 1000;
}

int main() {
  page_client client;
  sensor source;
  const bool good = tandem::run(each_once(client)) && tandem::run(many_readings(source));
  std::cout << (good ? "as expected\n" : "something is wrong\n");
  return good ? 0 : 1;
}
