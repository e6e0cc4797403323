// stealable_executor.hpp: completion_pool::executor(): whoever of the completion threads is free runs it.
// SPDX-License-Identifier: MIT
//
// Each engine publishes what becomes ready there in a lane of its own (stealable/publish); others
// take half of it when they have nothing to do. What is posted from outside waits in one queue for
// all. Protocol stealable: README.md beside this.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tandem/detail/injection_lane.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::io {

class engine_lane;
class stall_watch;

class stealable_executor final : public tandem::executor {
 public:
  /// @param most  how many engines there may be
  stealable_executor(runtime& owner, unsigned most);

  void post(job* item, post_kind kind) noexcept override;
  void post_batch(job_list items, post_kind kind) noexcept override;
  bool is_current() const noexcept override;
  runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return name_; }

  /// Before any runs: the next one.
  void add(engine_lane& lane) noexcept;
  /// The first `count` may run from now on. One that has ended stays: it has an empty lane.
  void open(unsigned count) noexcept;
  /// Likewise.
  void set_watch(stall_watch* watch) noexcept { watch_ = watch; }
  /// At the end: threads inside post() have left. pre: no task lives
  void wait_for_posts() noexcept;

  /// Any thread: an item that holds the clock already.
  void inject(job* item) noexcept { injected_.push(item, item); }
  /// stealable/call. Something was published: an engine that sleeps comes to look, unless one is on
  /// its way.
  void notify() noexcept;
  /// stealable/take. Whether there is anything to take.
  bool has_work() const noexcept;

  // An engine.
  /// stealable/call. It has looked; if there is more, another one is called.
  void search_ended() noexcept;
  void take_injected(engine_lane& here) noexcept;
  /// stealable/take. Takes half of the first lane that has anything: `count` tasks, the oldest of
  /// which is returned; the others are in the lane of `here`. Null: there was nothing.
  job* steal_for(engine_lane& here, std::uint32_t& count) noexcept;
  /// stalls/look
  void kick_watch() noexcept;

 private:
  engine_lane* current() const noexcept;
  engine_lane* sleeper() const noexcept;

  runtime& owner_;
  const std::string name_;
  const std::unique_ptr<std::atomic<engine_lane*>[]> lanes_;
  unsigned added_ = 0;
  std::atomic<unsigned> count_{0};  // that may run, or have run
  stall_watch* watch_ = nullptr;
  tandem::detail::injection_lane injected_;
  alignas(64) std::atomic<bool> searching_{
      false};  // stealable/call: one engine was called and has not looked yet
  std::atomic<std::uint32_t> posting_{0};  // threads inside post()
};

}  // namespace tandem::inline v0::io
