// callbacks.cpp: libraries that call back, awaited: in C++, in C, with borrowed arguments, with a stop, many times.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <tandem/callback_stream.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/run.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

// Four libraries. In C++: it calls from a thread of its own.
struct page_client {
  std::thread thread;
  void fetch(std::string url, std::function<void(int, std::string)> done) {
    thread = std::thread([url = std::move(url), done = std::move(done)] { done(200, url); });
  }
};

// In C: a function and a void*. The bytes are gone when the function has returned, and it has to say
// how many it took.
void load(const char* name, std::size_t (*function)(const char*, std::size_t, void*), void* data) {
  const std::string text = std::string("text of ") + name;
  if (function(text.data(), text.size(), data) != text.size()) std::cout << "not all\n";
}

// It calls when there are news, or when it is told to give up.
struct news_poll {
  std::function<void(std::string)> done;
  void begin(std::function<void(std::string)> call) { done = std::move(call); }
  void give_up() noexcept { done("no news"); }
};

// It calls again and again, until it is told to stop.
struct sensor {
  std::thread thread;
  std::atomic<bool> over{false};
  void listen(std::function<void(int)> on_reading) {
    thread = std::thread([this, on_reading = std::move(on_reading)] {
      for (int i = 1; !over; ++i) on_reading(i);
    });
  }
  void ignore() {
    over = true;
    thread.join();
  }
};

tandem::task<bool> each_once() {
  page_client client;
  auto [status, page] = co_await tandem::from_callback<void(int, std::string)>(
      [&](auto done) { client.fetch("index.html", std::move(done)); });
  auto text = co_await tandem::from_callback<std::size_t(const char*, std::size_t)>(
      [&](auto done) { load("notes", done.c_function(), done.c_data()); },
      [](const char* data, std::size_t size) {
        return tandem::returning(size, std::string(data, size));
      });
  client.thread.join();

  // A stop, here that of a time limit, has it give up; what it says then is the value.
  news_poll poll;
  auto news = co_await tandem::with_timeout(
      5ms, tandem::from_callback<void(std::string)>([&](auto done) { poll.begin(std::move(done)); },
                                                    tandem::as_values,
                                                    [&]() noexcept { poll.give_up(); }));
  std::cout << status << ' ' << page << ", " << text << ", " << news << '\n';
  co_return status == 200 && text == "text of notes" && news == "no news";
}

tandem::task<bool> many_readings() {
  sensor source;
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
  const bool good = tandem::run(each_once()) && tandem::run(many_readings());
  std::cout << (good ? "as expected\n" : "something is wrong\n");
  return good ? 0 : 1;
}
