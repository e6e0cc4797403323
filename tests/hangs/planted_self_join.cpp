// planted_self_join.cpp: a session that closes a chat waits for all sessions to end, also for itself.
// SPDX-License-Identifier: MIT
//
// The mistake: close_all() awaits every handle, and is called by a task whose own handle is one of them.
#include <vector>

#include <tandem/event.hpp>
#include <tandem/run.hpp>
#include <tandem/spawn.hpp>

#include "planted.hpp"

namespace {

constexpr int guests = 3;

struct chat {
  std::vector<tandem::join_handle<void>> sessions;
  tandem::event open;
  tandem::event closing;
  tandem::event closed;
};

tandem::task<void> visit(chat& self) {
  co_await self.open.wait();
  co_await self.closing.wait();
}

tandem::task<void> close_all(chat& self) {
  self.closing.set();
  for (auto& each : self.sessions) {
    if (&each == &self.sessions.back()) planted::stuck();  // all the guests have left
    co_await each;                                         // culprit(join): it is our own
  }
  self.closed.set();
}

tandem::task<void> moderate(chat& self) {
  co_await self.open.wait();
  co_await close_all(self);
}

tandem::task<int> evening() {
  chat self;
  for (int guest = 0; guest < guests; ++guest) {
    self.sessions.push_back(tandem::spawn(visit(self)));
  }
  self.sessions.push_back(tandem::spawn(moderate(self)));  // culprit(moderator): joins itself
  self.open.set();
  co_await self.closed.wait();
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(evening(), planted::options(argc, argv)); }
