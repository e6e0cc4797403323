// errand.hpp: something that a store is asked on behalf of a task that may leave before it is done.
// SPDX-License-Identifier: MIT
//
// A store may take its time even to be stopped: a server that answers nothing does not answer a
// request to stop, either. So whoever asks does not await the store itself: a clerk of the keeper
// does, and both hold the errand.
//
//     asker   puts the errand into the clerks' channel; awaits done_, which any stop ends at once;
//             takes the outcome, or leaves: then the clerk is asked to stop
//     clerk   takes it; awaits the store, with the asker's token and a time limit; writes the
//             outcome, notes what it says of the store, and sets done_
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/task.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>

#include "answer_store.hpp"

namespace service {

class errand {
 public:
  errand() = default;
  errand(const errand&) = delete;
  errand& operator=(const errand&) = delete;
  virtual ~errand() = default;

  /// The clerk's side, in this order. Does not throw.
  ///
  /// @param patience  for the store to answer
  /// @returns         what has failed, unless the asker has left before
  tandem::task<std::exception_ptr> run(answer_store& store,
                                       std::chrono::steady_clock::duration patience) {
    auto outcome = co_await tandem::as_result(
        tandem::with_stop(asker_left_.get_token(), tandem::with_timeout(patience, ask(store))));
    if (!outcome) failure_ = outcome.exception();
    co_return is_wanted() ? failure_ : nullptr;
  }
  void refuse(std::exception_ptr why) { failure_ = std::move(why); }
  void hand_over() { done_.set(); }
  bool is_wanted() const noexcept { return !asker_left_.stop_requested(); }

  /// The asker's side.
  void leave() { asker_left_.request_stop(); }
  tandem::task<void> wait() {
    co_await done_.wait();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  virtual tandem::task<void> ask(answer_store& store) = 0;

  std::stop_source asker_left_;
  tandem::event done_;
  std::exception_ptr failure_;  // written before done_ is set
};

/// One whose outcome is a T.
template <class T>
class errand_for : public errand {
 public:
  using work = std::function<tandem::task<T>(answer_store&)>;

  explicit errand_for(work what) : work_(std::move(what)) {}

  T take() { return std::move(value_).value(); }

 private:
  tandem::task<void> ask(answer_store& store) override {
    tandem::task<T> asking = work_(store);
    value_ = co_await std::move(asking);
  }

  const work work_;
  std::optional<T> value_;
};

/// The asker's hold: however it leaves, the clerk hears of it.
template <class T>
class asked_errand {
 public:
  explicit asked_errand(typename errand_for<T>::work what)
      : errand_(std::make_shared<errand_for<T>>(std::move(what))) {}
  asked_errand(const asked_errand&) = delete;
  asked_errand& operator=(const asked_errand&) = delete;
  ~asked_errand() { errand_->leave(); }

  std::shared_ptr<errand> shared() const { return errand_; }
  errand_for<T>& operator*() const { return *errand_; }
  errand_for<T>* operator->() const { return errand_.get(); }

 private:
  std::shared_ptr<errand_for<T>> errand_;
};

}  // namespace service
