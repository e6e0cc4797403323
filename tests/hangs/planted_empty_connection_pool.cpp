// planted_empty_connection_pool.cpp: a copy has both connections, and waits for somebody who wants one.
// SPDX-License-Identifier: MIT
//
// The mistake: the copy takes the connections before it has rows, and the rows come from a task that
// needs a connection, too. Ten requests wait behind the two.
#include <atomic>
#include <cstdio>

#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/run.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/task_scope.hpp>

#include "planted.hpp"

namespace {

constexpr int requests = 10;

struct database {
  tandem::semaphore connections{2};
  tandem::channel<int> rows{16};
  tandem::event copying;

  // The last of {the reader, all requests} to get there.
  void arrived() {
    if (++there_ == requests + 1) planted::stuck();
  }

 private:
  std::atomic<int> there_{0};
};

tandem::task<void> copy_table(database& self) {
  const auto both = co_await self.connections.scoped(2);
  self.copying.set();
  int copied = 0;
  while (co_await self.rows.receive()) ++copied;  // culprit(rows): with both connections in hand
  std::printf("%d rows\n", copied);
}

tandem::task<void> read_table(database& self) {
  self.arrived();
  const auto connection = co_await self.connections.scoped();
  for (int row = 0; row < 1000; ++row) co_await self.rows.send(row);
  self.rows.close();
}

tandem::task<void> look_up(database& self) {
  self.arrived();
  const auto connection = co_await self.connections.scoped();  // culprit(take): none is left
}

tandem::task<int> serve() {
  database self;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(copy_table(self));  // culprit(copy): it has both connections
    co_await self.copying.wait();
    scope.spawn(read_table(self));  // culprit(reader): the copy waits for it
    for (int request = 0; request < requests; ++request) {
      scope.spawn(look_up(self));  // culprit(request): these wait for a connection
    }
  });
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) { return tandem::run(serve(), planted::options(argc, argv)); }
