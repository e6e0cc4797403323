// planted_lost_event.cpp: requests wait for a configuration, and loading it has failed.
// SPDX-License-Identifier: MIT
//
// The mistake: load() leaves without a word when there is no file, and sets the event only at its end.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>

#include <tandem/event.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

#include "planted.hpp"

namespace {

constexpr int requests = 3;

struct service {
  tandem::event configured;
  std::string greeting;

  // The last of {the loader, all requests} to get there.
  void arrived() {
    if (++there_ == requests + 1) planted::stuck();
  }

 private:
  std::atomic<int> there_{0};
};

tandem::task<bool> read_greeting(service& self, const char* path) {
  std::ifstream file(path);
  co_return static_cast<bool>(std::getline(file, self.greeting));
}

tandem::task<void> load(service& self, const char* path) {
  const bool found = co_await read_greeting(self, path);
  self.arrived();
  if (!found) co_return;
  self.configured.set();
}

tandem::task<std::string> greeting_for(service& self, int guest) {
  self.arrived();
  co_await self.configured.wait();  // culprit(wait): nobody sets it any more
  co_return self.greeting + ", guest " + std::to_string(guest);
}

tandem::task<void> answer(service& self, int guest) {
  const std::string text = co_await greeting_for(self, guest);
  std::puts(text.c_str());
}

tandem::task<int> serve() {
  service self;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(load(self, "/nowhere/service.conf"));
    for (int guest = 1; guest <= requests; ++guest) {
      scope.spawn(answer(self, guest));  // culprit(request): these wait for the event
    }
    co_return;
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(serve(), planted::options(argc, argv)); }
