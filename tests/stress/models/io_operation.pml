// io_operation.pml: an I/O operation, its stop and its completion; each ends once, and nobody touches what is gone.
// SPDX-License-Identifier: MIT
//
// Protocols operations and ring_sleep of io, with stopping of runtime. A task awaits
// two operations, one after the other, which lie at the same address: so whatever comes late for the first one meets
// the second. It lives on the completion thread (owner) or elsewhere. Each operation has an environment of its own,
// which may be stopped at any time, also before it begins. A silent one never ends by itself: it is always stopped. A
// short one ends too early, and is submitted again.
//
//   operations/publish task     publish the leaf: an environment that was stopped refuses it, and nothing starts
//   operations/submit task     on the owner's thread the entry goes into the ring; from elsewhere the operation into the inbox
//   operations/never_started owner    a cancel request that came before the submission: the operation ends without having started
//   operations/stop stopper  has taken the leaf: it posts the cancel request and keeps its hold for it
//   operations/complete owner    a completion takes the leaf back and goes on with the task
//   operations/wait_for_cancel owner    it could not: the second of completion and cancel request goes on with the task
//   ring_sleep/announce owner    says that it sleeps, then looks at the inbox
//   ring_sleep/wake poster   pushes, then looks whether the owner sleeps; of all posters one wakes it
//
// With -DREADINESS the backend is the one over Asio: a cancel is no request to a kernel, but takes the operation out of
// those that wait, and it has ended.
//
// Proved: each operation ends once and its task goes on once, after both the completion and the cancel request, if there
// is one; the kernel never writes into an operation that is over; a cancel ends no other operation than its own; a
// silent one that is stopped ends; nothing hangs.
//
// BROKEN=1: operations/wait_for_cancel the completion does not care whether it got the leaf back: the cancel request comes too late
// BROKEN=2: operations/never_started is left out: what was stopped before it started is never cancelled
// BROKEN=3: operations/complete what ended short is submitted again, though it was cancelled: the cancel has missed it
// BROKEN=4: operations/stop the stopper gives up its hold when it has posted: as 1
// BROKEN=5: operations/wait_for_cancel the cancel request goes on with the task, though the operation is in the ring: the kernel writes into it
// BROKEN=6: entries are not handled in order: a cancel meets the next operation at that address
// BROKEN=7: ring_sleep/announce the owner looks before it says that it sleeps: what comes in between is seen by nobody
// BROKEN=8: ring_sleep/wake the poster looks before it pushes: as above
// BROKEN=9: operations/stop the cancel request is dropped if the operation was not submitted yet, with its hold: the task never goes on
// BROKEN=10: operations/publish comes after operations/submit: a stop in between finds no leaf, and nobody cancels
//
// ALSO -DREADINESS: the backend over Asio

#ifndef BROKEN
#define BROKEN 0
#endif

// An operation; GONE after the last one.
#define FIRST 0
#define SECOND 1
#define GONE 2

#define NONE 0
#define LEAF 1
#define STOPPED 2
byte slot[2];  // of the environment of each

// The one address that both have. Owner only, but for the hand-over.
#define IDLE 0
#define SUBMITTED 1
#define COMPLETED 2
byte alive = FIRST;  // whose it is now
byte state;
bool cancel_seen, handed, cancelled;
bool runnable;  // the task: somebody has gone on with it
bool begun;     // the first await
bool is_silent[2], is_short[2], on_owner;

// What is posted and queued.
mtype = {submit_op, cancel_op, go_on, done, too_short, was_cancelled};
chan inbox = [4] of {mtype, byte};
chan queue[2] = [4] of {mtype, byte};
#define ours queue[true]
#define elsewhere queue[false]
bool asleep, event, stopping;

// The ring: entries that were not handed over, entries the kernel has, completions.
chan entries = [4] of {mtype, byte};
chan handed_over = [4] of {mtype, byte};
chan completions = [2] of {mtype};
byte in_flight = GONE;  // the kernel has its buffer

// ring_sleep/wake
inline post_to_owner(kind, op) {
#if BROKEN == 8
  poster_saw = asleep;
  inbox!kind, op;
#else
  inbox!kind, op;
  poster_saw = asleep;
#endif
  if
  :: poster_saw ->
     if
     :: atomic { asleep -> asleep = false; event = true }
     :: else
     fi
  :: else
  fi;
  poster_saw = false
}

inline go_on_with_task() {
  atomic {
    assert(!runnable);
    runnable = true;
    queue[on_owner]!go_on, 0
  }
}

// The backend's submit.
inline put_in_ring(op) {
  atomic {
    state = SUBMITTED;
#ifdef READINESS
    assert(in_flight == GONE);
    in_flight = op
#else
    entries!submit_op, op
#endif
  }
}

// The environment was stopped before: the await ends, nothing was started.
inline refused() {
  cancelled = true;
  state = COMPLETED;
  go_on_with_task()
}

inline begin_on_owner(op) {
#if BROKEN == 10
  put_in_ring(op);
  if
  :: atomic { slot[op] == NONE -> slot[op] = LEAF }
  :: else
  fi
#else
  if
  :: atomic { slot[op] == NONE -> slot[op] = LEAF };  // operations/publish
     put_in_ring(op)  // operations/submit
  :: else -> refused()
  fi
#endif
}

inline begin_elsewhere(op) {
#if BROKEN == 10
  post_to_owner(submit_op, op);
  if
  :: atomic { slot[op] == NONE -> slot[op] = LEAF }
  :: else
  fi
#else
  if
  :: atomic { slot[op] == NONE -> slot[op] = LEAF };  // operations/publish
     post_to_owner(submit_op, op)  // operations/submit
  :: else -> refused()
  fi
#endif
}

// The await returns: the next one stands at its address.
inline take_result() {
  atomic {
    assert(runnable && state == COMPLETED && in_flight == GONE && len(completions) == 0);
    assert(!is_silent[alive] || cancelled);
    runnable = false;
    alive++;
    state = IDLE;
    cancel_seen = false;
    handed = false;
    cancelled = false
  }
}

// operations/wait_for_cancel. The second of the two goes on with the task.
inline hand_over() {
  if
  :: atomic { handed -> skip };
     go_on_with_task()
  :: atomic { !handed -> handed = true }
  fi
}

// operations/complete. The operation has completed.
inline finish() {
  if
  :: atomic { slot[alive] == LEAF -> slot[alive] = NONE };  // stopping/take_back
     go_on_with_task()
  :: else ->
#if BROKEN == 1
     go_on_with_task()
#else
     hand_over()
#endif
  fi
}

// As finish(), after the cancel request.
inline finish_cancelled() {
  atomic {
    cancelled = true;
    state = COMPLETED;
    assert(slot[alive] == STOPPED && handed)
  }
  go_on_with_task()
}

inline run_submit(op) {
  assert(alive == op && state == IDLE);
  if
  :: cancel_seen && BROKEN != 2 -> finish_cancelled()  // operations/never_started
  :: else -> put_in_ring(op)
  fi
}

inline run_cancel(op) {
  assert(alive == op);
  if
  :: BROKEN == 9 && state == IDLE
  :: else ->
     cancel_seen = true;
     if
     :: state == SUBMITTED ->
#ifdef READINESS
        atomic {
          if
          :: in_flight == op ->
             in_flight = GONE;
             completions!was_cancelled
          :: else  // it has ended, and was not looked at
          fi
        }
#else
        entries!cancel_op, op
#endif
     :: else
     fi;
#if BROKEN == 5
     state = COMPLETED;
     go_on_with_task()
#elif BROKEN != 4
     hand_over()
#endif
  fi
}

proctype owner() {
  mtype kind, how;
  byte op;
  bool poster_saw, work;
  do
  :: do  // the inbox is taken whole, in the order of posts
     :: atomic { inbox?kind, op -> ours!kind, op }
     :: empty(inbox) -> break
     od;
     do
     :: ours?kind, op ->
        if
        :: kind == submit_op -> run_submit(op)
        :: kind == cancel_op -> run_cancel(op)
        :: kind == go_on ->
           if
           :: begun ->
              take_result();
              if
              :: alive < GONE -> begin_on_owner(alive)
              :: else -> stopping = true
              fi
           :: else ->
              begun = true;
              runnable = false;
              begin_on_owner(FIRST)
           fi
        fi
     :: break  // after some of them it looks at the ring
     od;
     if
     :: stopping && len(ours) == 0 && len(inbox) == 0 -> break
     :: else
     fi;
#if BROKEN == 7
     work = len(inbox) != 0 || stopping;
     asleep = true;
#else
     asleep = true;  // ring_sleep/announce
     work = len(inbox) != 0 || stopping;
#endif
     // One system call: everything is handed over, then it waits.
     do
     :: atomic { entries?kind, op -> handed_over!kind, op }
     :: empty(entries) -> break
     od;
     if
     :: work || len(ours) != 0
     :: len(completions) != 0 || event
     fi;
     asleep = false;
     event = false;
     // Reap.
     do
     :: completions?how ->
        atomic {
          assert(alive != GONE && state == SUBMITTED);
          state = COMPLETED;
          cancelled = (how == was_cancelled)
        }
        if
        :: how == too_short ->
           if
           :: !cancel_seen || BROKEN == 3 -> put_in_ring(alive)
           :: else -> finish_cancelled()
           fi
        :: else -> finish()
        fi
     :: empty(completions) -> break
     od
  od;
  assert(alive == GONE && in_flight == GONE)
}

// The task's home, if that is not the owner.
proctype worker() {
  bool poster_saw;
  elsewhere?_, _;
  runnable = false;
  begin_elsewhere(FIRST);
  elsewhere?_, _;
  take_result();
  begin_elsewhere(SECOND);
  elsewhere?_, _;
  take_result();
  stopping = true;
  if
  :: atomic { asleep -> asleep = false; event = true }
  :: else
  fi
}

proctype stopper(byte op) {
  bool poster_saw, taken;
  // stopping/request. One that comes after the end is none.
  atomic {
    taken = (slot[op] == LEAF);
    slot[op] = STOPPED
  }
  if
  :: taken ->
     assert(alive == op);  // on_stop
     post_to_owner(cancel_op, op);
#if BROKEN == 4
     hand_over()
#endif
  :: else
  fi
}

proctype kernel() {
  mtype kind;
  byte op;
end:
  do
#ifndef READINESS
#if BROKEN == 6
  :: atomic { handed_over??submit_op, op -> in_flight = op }
#endif
  :: atomic {
       handed_over?kind, op ->
       if
       :: kind == submit_op -> assert(in_flight == GONE && alive == op); in_flight = op
       :: kind == cancel_op ->
          if
          :: in_flight != GONE ->
             assert(in_flight == op);  // it is the operation that was meant
             in_flight = GONE;
             completions!was_cancelled
          :: else
          fi
       fi
     }
#endif
  :: atomic {
       in_flight != GONE && is_short[in_flight] ->
       assert(alive == in_flight);
       is_short[in_flight] = false;
       in_flight = GONE;
       completions!too_short
     }
  :: atomic {
       in_flight != GONE && !is_silent[in_flight] ->
       assert(alive == in_flight);  // it writes into the buffer
       in_flight = GONE;
       completions!done
     }
  od
}

init {
  atomic {
    byte i;
    for (i : 0 .. 1) {
      if
      :: is_silent[i] = true
      :: true
      fi;
      if
      :: is_short[i] = true
      :: true
      fi
    }
    if
    :: on_owner = true
    :: on_owner = false; run worker()
    fi;
    go_on_with_task();
    run kernel();
    run stopper(FIRST);
    run stopper(SECOND);
    run owner()
  }
}
