// park_wake.pml: posting, searching, parking, waking and stopping of the worker pool; no wake-up is lost.
// SPDX-License-Identifier: MIT
//
// worker_pool.cpp and worker_loop.cpp, P1-P8 of runtime/README.md, with one store buffer for each worker and one
// for the poster. There are as many items as workers, and each item waits until all of them have begun: so every
// worker has to be woken, and a lost wake-up is a deadlock. Where they come from is one of six cases:
//
//   POSTS   from outside, one post each, and one before them that does not wait
//   BATCH   the same, all in one post with one wake
//   SPAWNS  one from outside that does not wait posts them to its worker's FIFO
//   FORKS   the first one comes from outside and forks the others; while it is busy it polls its lane and exposes
//           half of what is private whenever thieves have taken what was public (L6, P6)
//   WAITS   as FORKS, but it exposes everything and blocks
//   JOINS   as WAITS, but nobody waits: the worker takes back what nobody has stolen
//
//   P1 poster   publish by a seq_cst store; then P5. From outside: one CAS on the inbox, and P5 only if it was empty
//   E1 taker    under the list's lock, the list being empty: say that there is something, then empty the inbox into it
//   E2 taker    takes one, and maybe another one into its lane: first there, then out of the count
//   P2 sleeper  write "parked", take the lock, push onto the idle stack
//   P3 sleeper  count as idle, no longer as searching (one seq_cst operation); unlock; then look at all queues
//   P4 sleeper  looks only if nobody searches now; if there is something: P5
//   P5 waker    somebody searches or nobody is idle: done. Else under the lock: pop the youngest, count it as
//               searching; then write "notified"
//   P6 fork     exposing makes a fork's worker a poster: P1 with the lane's split, P5
//   P7 finder   the last searcher that has found something does P5
//   P8 stop     a poster from outside counts itself in and out; stop() waits for 0 before the pool goes. What
//               stop() wakes counts as searching, as what a waker wakes
//
// Proved: no deadlock; after stop every worker has ended and nothing is left; no count goes below 0; nobody
// touches the pool after it is gone.
//
// BROKEN=1: P1 from outside publishes by a release store: poster and sleeper miss each other
// BROKEN=2: P1 of a worker publishes by a release store: as above
// BROKEN=3: P3 the sleeper looks before it counts itself idle: what comes in between is seen by nobody
// BROKEN=4: P4 the last searcher does not look: what was posted while it searched waits
// BROKEN=5: P4 a sleeper that did not search never looks: what was posted while the last one searched waits
// BROKEN=6: P2 comes after P3: the sleeper overwrites "notified"
// BROKEN=7: P7 is left out: a batch wakes one worker
// BROKEN=8: P8 stop does not wait for posters: they touch a pool that is gone
// BROKEN=9: P6 who blocks exposes everything, but wakes nobody: nobody comes for what it waits for
// BROKEN=10: P6 exposes by a release store: worker and sleeper miss each other, and nobody asks again
// BROKEN=11: P8 stop takes the sleepers before it says that it stops: who parks in between sleeps for ever
// BROKEN=12: P8 stop does not count as searching whom it wakes: the count goes below 0
// BROKEN=13: E1 the inbox is emptied before the list says that it has something: a sleeper sees neither
// BROKEN=14: E2 the item is out of the count before it is in the lane: a sleeper sees neither
// BROKEN=15: P3 the sleeper looks at the count before the inbox: it sees neither
//
// ALSO -DWORKERS=3 -DONLY=BATCH -DLOTS=0: two may search at once; without E2, for the memory's sake
// ALSO -DWORKERS=3 -DONLY=SPAWNS: two may search at once
// ALSO -DWORKERS=3 -DONLY=FORKS: two may search at once

#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef WORKERS
#define WORKERS 2
#endif
#define ITEMS WORKERS

#ifndef LOTS
#define LOTS 1
#endif

#define POSTS 1
#define BATCH 2
#define SPAWNS 3
#define FORKS 4
#define WAITS 5
#define JOINS 6
#define HAS_SHORT_ITEM (source <= SPAWNS)

// What owners store, and others read: the inbox by the poster and takers, the others by workers.
#define INBOX 0
#define SIZE 1
#define TAIL(w) (2 + (w))
#define SPLIT(w) (2 + WORKERS + (w))
#define LOCATIONS (2 + 2 * WORKERS)
#define BUFFERED (WORKERS + 1)
#define POSTER WORKERS
#include "store_buffer.pml"

byte source;  // one of the cases
// What is changed by read-modify-write operations only.
byte searching, idle = WORKERS;  // one word
byte head[WORKERS], top[WORKERS];
byte posting;

byte inbox;  // what all have put into it and nobody has taken out
// Under the lock of the list behind it.
bool list_lock;
byte listed;
// Under the idle lock.
bool idle_lock, stopping;
byte idle_stack[WORKERS], sleepers;

#define RUNNING 0
#define PARKED 1
#define NOTIFIED 2
byte signal[WORKERS];

bool root_begun;  // the first item
byte begun, ended, threads_ended;
bool gone;

inline lock(p) {
  atomic { !idle_lock && DRAINED(p) -> idle_lock = true }
}

// P5
inline wake_one(p) {
  if
  :: searching != 0 || idle == 0
  :: else ->
     lock(p);
     assert(!gone);
     if
     :: sleepers == 0 || stopping || searching != 0 -> idle_lock = false
     :: else ->
        atomic {
          sleepers--;
          chosen = idle_stack[sleepers];
          idle_stack[sleepers] = 0;
          idle--;
          searching++
        }
        idle_lock = false;
        signal[chosen] = NOTIFIED;
        chosen = 0
     fi
  fi
}

inline end_search() {
  if
  :: is_searching ->
     is_searching = false;
     atomic {
       DRAINED(me) ->
       assert(searching > 0);
       last = (searching == 1);
       searching--
     }
#if BROKEN != 7
     if
     :: last -> last = false; wake_one(me)  // P7
     :: else
     fi
#else
     last = false
#endif
  :: else
  fi
}

// Thieves and the owner, by a CAS.
inline take_fifo(w) {
  if
  :: head[w] < LOAD(me, TAIL(w)) ->
     atomic {
       DRAINED(me) ->
       if
       :: head[w] < LOAD(me, TAIL(w)) -> head[w]++; found = true
       :: else
       fi
     }
  :: else
  fi
}
inline take_fork(w) {
  if
  :: top[w] < LOAD(me, SPLIT(w)) ->
     atomic {
       DRAINED(me) ->
       if
       :: top[w] < LOAD(me, SPLIT(w)) -> top[w]++; found = true
       :: else
       fi
     }
  :: else
  fi
}
inline publish(place, value) {
#if BROKEN == 2
  store(me, place, value, RELEASE)
#else
  store_seq_cst(me, place, value)  // P1
#endif
}

inline injected_waits() {
#if BROKEN == 15
  found = (LOAD(me, SIZE) > 0);
  if
  :: !found -> found = (mem[INBOX] > 0)
  :: else
  fi
#else
  found = (mem[INBOX] > 0);
  if
  :: !found -> found = (LOAD(me, SIZE) > 0)
  :: else
  fi
#endif
}

inline take_injected() {
  injected_waits();
  if
  :: found ->
     found = false;
     atomic { !list_lock && DRAINED(me) -> list_lock = true }
     if
     :: listed == 0 && mem[INBOX] > 0 ->
#if BROKEN != 13
        store(me, SIZE, 1, RELAXED);  // E1
#endif
        atomic {
          DRAINED(me) && DRAINED(POSTER) ->
          listed = inbox;
          inbox = 0;
          mem[INBOX] = 0
        }
     :: else
     fi;
     if
     :: listed > 0 ->
        found = true;
        listed--;
        if
        :: LOTS && listed > 0 && head[me] == LOAD(me, TAIL(me)) ->
           listed--;
#if BROKEN == 14
           store_seq_cst(me, SIZE, listed);
#endif
           tail = LOAD(me, TAIL(me)) + 1;
           publish(TAIL(me), tail);  // E2
           tail = 0
        :: true
        fi
     :: else
     fi;
     atomic {
       DRAINED(me) ->
       mem[SIZE] = listed;
       list_lock = false
     }
  :: else
  fi
}

inline expose(until) {
#if BROKEN == 10
  store(me, SPLIT(me), until, RELEASE)
#else
  store_seq_cst(me, SPLIT(me), until)  // P6
#endif
}

inline look_at_all() {
  injected_waits();
  w = 0;
  do
  :: !found && w < WORKERS -> found = (head[w] < LOAD(me, TAIL(w)));
     if
     :: !found -> found = (top[w] < LOAD(me, SPLIT(w)))
     :: else
     fi;
     w++
  :: else -> break
  od;
  w = 0
}

proctype worker(byte me) {
  byte w, chosen, forked, tail;
  bool is_searching, found, last, look, first;
  goto asleep;

loop:
  take_fork(me);
  if
  :: !found -> take_fifo(me)
  :: else
  fi;
  if
  :: !found -> take_injected()
  :: else
  fi;
  if
  :: !found && !is_searching ->  // at most half of those that are awake search
     if
     :: 2 * searching < (WORKERS - idle > 2 -> WORKERS - idle : 2) ->
        atomic { DRAINED(me) -> searching++ }
        is_searching = true
     :: else
     fi
  :: else
  fi;
  if
  :: !found && is_searching ->
     take_injected();
     w = 0;
     do
     :: !found && w < WORKERS ->
        if
        :: w != me -> take_fifo(w)
        :: else
        fi;
        if
        :: !found && w != me -> take_fork(w)
        :: else
        fi;
        w++
     :: else -> break
     od;
     w = 0
  :: else
  fi;
  if
  :: found ->
     found = false;
     end_search();
     goto run_item
  :: else -> goto park
  fi;

run_item:
  atomic {
    first = !root_begun;
    root_begun = true;
    begun = begun + (first && HAS_SHORT_ITEM -> 0 : 1)
  }
  if
  :: first && source == SPAWNS ->
     do
     :: forked < ITEMS ->
        forked++;
        publish(TAIL(me), forked);
        wake_one(me)
     :: else -> break
     od
  :: first && source == FORKS ->
     do
     :: forked < ITEMS - 1 && top[me] == forked ->
        forked = forked + (ITEMS - forked) / 2;
        expose(forked);
        wake_one(me)
     :: begun == ITEMS -> break
     od
  :: first && (source == WAITS || source == JOINS) ->
     expose(ITEMS - 1);
#if BROKEN != 9
     wake_one(me)
#endif
  :: else
  fi;
  forked = 0;
  (first && HAS_SHORT_ITEM) || source == JOINS || begun == ITEMS;
  first = false;
  ended++;
  goto loop;

park:
  look = is_searching;
#if BROKEN != 6
  signal[me] = PARKED;  // P2
#endif
#if BROKEN == 3
  look_at_all();
#endif
  lock(me);
  if
  :: stopping ->
     if
     :: is_searching ->
        atomic {
          assert(searching > 0);
          searching--
        }
     :: else
     fi;
     idle_lock = false;
     goto finished
  :: else
  fi;
  atomic {  // P3
    idle_stack[sleepers] = me;
    sleepers++;
    idle++;
    assert(searching >= is_searching);
    searching = searching - is_searching;
#if BROKEN == 4
    look = !is_searching && searching == 0;
#elif BROKEN == 5
    look = is_searching && searching == 0;
#else
    look = (searching == 0);  // P4
#endif
    is_searching = false
  }
  idle_lock = false;
#if BROKEN == 6
  signal[me] = PARKED;
#endif
  if
  :: look ->
#if BROKEN != 3
     look_at_all();
#endif
     if
     :: found -> wake_one(me)
     :: else
     fi
  :: else
  fi;
  look = false;
  found = false;

asleep:
  atomic {
    signal[me] == NOTIFIED ->
    signal[me] = RUNNING;
    is_searching = true
  }
  goto loop;

finished:
  assert(head[me] == mem[TAIL(me)] && top[me] == mem[SPLIT(me)]);
  threads_ended++
}

inline push_injected(n) {
#if BROKEN == 1
  atomic {
    inbox = inbox + n;
    store(POSTER, INBOX, inbox, RELEASE)
  }
#else
  atomic {
    DRAINED(POSTER) ->
    inbox = inbox + n;
    mem[INBOX] = inbox  // P1
  }
#endif
}

// Behind what is there: whoever put the first of it there wakes somebody, and this is the last access.
inline push_behind(n) {
  if
  :: mem[INBOX] > 0 ->
     atomic {
       DRAINED(POSTER) ->
       if
       :: inbox > 0 ->
          inbox = inbox + n;
          mem[INBOX] = inbox;
          behind = true
       :: else
       fi
     }
  :: else
  fi
}

inline post(n) {
  push_behind(n);
  if
  :: !behind ->
     posting++;  // P8
     push_injected(n);
     wake_one(POSTER);
     assert(!gone);
     posting--
  :: else -> behind = false
  fi
}

proctype poster() {
  byte chosen, left, now;
  bool behind;
  left = (source == POSTS || source == BATCH -> ITEMS + 1 : 1);
  do
  :: left > 0 ->
     now = (source == BATCH -> left : 1);
     post(now);
     left = left - now
  :: else -> break
  od
}

// The one who waits for all items and then ends the pool.
init {
  byte w, taken;
  atomic {
    if
#ifdef ONLY
    :: source = ONLY
#else
    :: source = POSTS
    :: source = BATCH
    :: source = SPAWNS
    :: source = FORKS
    :: source = WAITS
    :: source = JOINS
#endif
    fi;
    do
    :: w < WORKERS ->
       idle_stack[w] = w;
       signal[w] = PARKED;
       run worker(w);
       w++
    :: else -> break
    od;
    sleepers = WORKERS;
    w = 0;
    run poster()
  }
  ended == ITEMS + HAS_SHORT_ITEM;
#if BROKEN == 11
  atomic { !idle_lock -> taken = sleepers; sleepers = 0; idle = idle - taken; searching = searching + taken; w = taken }
#else
  atomic {
    !idle_lock ->
    stopping = true;
    w = sleepers;
    sleepers = 0;
    idle = idle - w;
#if BROKEN != 12
    searching = searching + w
#endif
  }
#endif
  do
  :: w > 0 ->
     w--;
     taken = idle_stack[w];
     signal[taken] = NOTIFIED
  :: else -> break
  od;
#if BROKEN == 11
  atomic { !idle_lock -> stopping = true }
#endif
  threads_ended == WORKERS;
#if BROKEN != 8
  posting == 0;  // P8
#endif
  gone = true;
  assert(inbox == 0 && listed == 0 && searching == 0 && idle == 0)
}
