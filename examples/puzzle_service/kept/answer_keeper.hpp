// answer_keeper.hpp: remembers answers, asks a store for older ones, and has new ones written.
// SPDX-License-Identifier: MIT
//
// It stands between the handlers and the store, so that no handler ever waits for a store that is
// slow or away:
//
//     recall()   what is in memory, at once
//     look_up()  asks the store; meant to run beside the search, which it may lose to. It ends at
//                once when it is stopped, whatever the store does (errand.hpp), and says that
//                nothing is known while the store is away
//     keep()     puts the answer into memory and into a bounded queue, and returns
//     run()      one task writes what is in the queue, in order; some clerks ask
//
// States of the store (keeper_state.hpp): unknown until the first prepare() has ended; there after
// each success of the writer; away after each failure of anybody. While it is away only the writer
// calls it: it prepares it again and again, after delays that grow, and then goes on with the
// queue. An answer leaves the queue when it has been written, or when there is no room for it; one
// that could not be written goes to the queue's end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/task.hpp>

#include "answer_store.hpp"
#include "errand.hpp"
#include "keeper_state.hpp"
#include "question.hpp"
#include "recent_answers.hpp"
#include "waiting_answers.hpp"

namespace service {

class keeper_options {
 public:
  keeper_options() = default;

  std::size_t recent_answers = 256;
  std::size_t recent_bytes = std::size_t{16} << 20;
  std::size_t waiting_answers = 1000;
  std::size_t waiting_bytes = std::size_t{32} << 20;
  std::size_t answer_bytes = std::size_t{256} << 10;  ///< a longer one is not kept
  unsigned clerks = 4;                                ///< questions to the store at the same time
  std::size_t errands = 64;                           ///< questions that wait for a clerk

  std::chrono::milliseconds patience{5'000};  ///< for one call of the store
  /// Between attempts to reach a store that is away: from the first to the longest, doubling.
  std::chrono::milliseconds first_delay{100};
  std::chrono::milliseconds longest_delay{5'000};

  /// Is told in a line when the store goes away, and when it is there again.
  std::function<void(const std::string&)> log;
};

/// The store cannot be asked now; the text says why.
class store_unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @thread_safety  all members from any thread
class answer_keeper {
 public:
  /// @param store  null: nothing is kept, nor remembered
  explicit answer_keeper(std::unique_ptr<answer_store> store, keeper_options options = {});

  bool keeps() const noexcept { return store_ != nullptr; }

  /// @returns  null if it is not in memory
  known_answer recall(const question& asked);
  /// Waits for the store until it knows.
  ///
  /// @returns        null if the answer is not known, or the store is away or busy
  /// @throws         operation_cancelled
  /// @cancellation   at once, whatever the store does
  tandem::task<known_answer> look_up(question asked);
  void keep(kept_answer answer);

  /// The part of the list that is wanted.
  ///
  /// @throws         store_unavailable; operation_cancelled
  tandem::task<kept_page> list(kept_search wanted);
  /// @returns        null if there is no such answer
  /// @throws         as list()
  tandem::task<known_answer> fetch(std::string key);

  keeper_state state() const;

  /// Serves until finish(), and until what waits is written. Once.
  ///
  /// @throws         operation_cancelled: what still waited is lost (state().waiting)
  tandem::task<void> run();
  /// No further answers. What waits is tried once more; if the store does not take it, it is lost.
  void finish();

 private:
  tandem::task<void> write();
  /// One answer, after having reached the store. Throws what fails, after having noted it.
  tandem::task<void> write_next();
  tandem::task<void> call_store(tandem::task<void> call);
  tandem::task<void> work();
  tandem::task<void> serve(errand& asked);
  tandem::task<void> close_store();
  template <class T>
  tandem::task<T> ask(typename errand_for<T>::work what);

  bool must_prepare() const;
  known_answer next_to_write() const;
  void note_there();
  void note_away(const std::string& reason);
  void note_lookup(const known_answer& found);
  void tell(const std::string& line) const;

  const std::unique_ptr<answer_store> store_;
  const keeper_options options_;
  tandem::channel<std::shared_ptr<errand>> errands_;
  tandem::event changed_;    // there is something for the writer
  tandem::event reached_;    // the store is no longer unknown
  std::stop_source hurry_;   // ends the writer's delays
  mutable std::mutex lock_;  // of all below; never held across an await
  recent_answers recent_;
  waiting_answers waiting_;
  keeper_state state_;  // but `waiting`
  bool is_prepared_ = false;
  bool is_finishing_ = false;
};

}  // namespace service
