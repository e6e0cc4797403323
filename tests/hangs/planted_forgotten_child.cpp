// planted_forgotten_child.cpp: a job of 51 children, of which 50 have ended, and one waits for ever.
// SPDX-License-Identifier: MIT
//
// The mistake: nobody closes the channel when all images are done, so whoever counts them goes on.
#include <atomic>
#include <cstdio>

#include <tandem/channel.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/wait_group.hpp>
#include <tandem/yield.hpp>

#include "planted.hpp"

namespace {

constexpr int images = 50;

struct album {
  tandem::channel<int> resized{8};
  tandem::wait_group under_way;
};

tandem::task<void> resize(album& self, int image, tandem::wait_group_token /*counted*/) {
  co_await tandem::yield();
  co_await self.resized.send(image);
}

tandem::task<void> show_progress(album& self) {
  int count = 0;
  while (co_await self.resized.receive()) ++count;  // culprit(receive): nobody sends or closes
  std::printf("%d images\n", count);
}

tandem::task<void> resize_all(album& self) {
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(show_progress(self));  // culprit(progress): the one that has not ended
    for (int image = 0; image < images; ++image) {
      scope.spawn(resize(self, image, self.under_way.token()));
    }
    co_await self.under_way.wait();
    planted::stuck();
  });
}

tandem::task<int> job() {
  album self;
  co_await resize_all(self);
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tandem::runtime owner(planted::options(argc, argv));
  return owner.spawn(job()).wait();  // culprit(job): waits for its children
}
