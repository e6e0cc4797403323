// park_wake.pml: posting, searching, parking, waking and stopping of the worker pool; no wake-up is lost.
// SPDX-License-Identifier: MIT
//
// waker.hpp and worker_loop.cpp, parking, inbox/gather, inbox/take and crew/goal of runtime/src/crew/README.md, with one store buffer for each
// worker. There are as many items as workers, and each item waits until all of them have begun: so every
// worker has to be woken, and a lost wake-up is a deadlock. Where they come from is one of six cases:
//
//   POSTS   from two threads outside, one post each, and one before them that does not wait
//   BATCH   the same, all in one post with one wake
//   SPAWNS  one from outside that does not wait posts them to its worker's FIFO
//   FORKS   the first one comes from outside and forks the others; while it is busy it polls its lane and exposes
//           half of what is private whenever thieves have taken what was public (fork_lane/expose, parking/expose)
//   WAITS   as FORKS, but it exposes everything and blocks
//   JOINS   as WAITS, but nobody waits: the worker takes back what nobody has stolen
//
// But for POSTS, one worker less than there are may be busy at first. At any time the goal is raised (crew/goal), which may
// be the last chance of what was posted before.
//
//   parking/post poster   publish by a seq_cst store; then parking/wake. From outside: by a CAS on the inbox, and over another item there
//               that was all: whoever put the first one there does parking/wake
//   parking/lie_down sleeper  write "parked", take the lock, push onto the idle stack
//   parking/announce sleeper  add its place to the room, and be no longer counted as searching (one seq_cst operation); unlock;
//               then look at all queues
//   parking/look sleeper  looks only if nobody searches now; if there is something: parking/wake
//   parking/wake waker    somebody searches or there is no room: done. Else under the lock: pop the youngest, count it as
//               searching; then write "notified"
//   parking/expose fork     exposing makes a fork's worker a poster: parking/post with the lane's split, parking/wake
//   parking/pass_on finder   the last searcher that has found something looks whether there is more; if there is: parking/wake
//   parking/visit stop     a poster from outside counts itself in and out; stop() waits for 0 before the pool goes. What
//               stop() wakes counts as searching, as what a waker wakes
//   inbox/gather gather   under the lane's lock: say that there is something, then empty the inbox
//   inbox/take take     one, or one and another one into the own FIFO: first there, then out of the count
//   crew/goal control  makes room by a seq_cst operation; then looks at all queues; if there is something: parking/wake
//
// Proved: no deadlock; after stop every worker has ended and nothing is left; no count goes below 0; nobody
// touches the pool after it is gone.
//
// BROKEN=1: parking/post from outside looks at the word before it publishes: poster and sleeper miss each other
// BROKEN=2: parking/post of a worker publishes by a release store: as above
// BROKEN=3: parking/announce the sleeper looks before it gives its place to the room: what comes in between is seen by nobody
// BROKEN=4: parking/look the last searcher does not look: what was posted while it searched waits
// BROKEN=5: parking/look a sleeper that did not search never looks: what was posted while the last one searched waits
// BROKEN=6: parking/lie_down comes after parking/announce: the sleeper overwrites "notified"
// BROKEN=7: parking/pass_on is left out: a batch wakes one worker
// BROKEN=8: parking/visit stop does not wait for posters: they touch a pool that is gone
// BROKEN=9: parking/expose who blocks exposes everything, but wakes nobody: nobody comes for what it waits for
// BROKEN=10: parking/expose exposes by a release store: worker and sleeper miss each other, and nobody asks again
// BROKEN=11: parking/visit stop takes the sleepers before it says that it stops: whoever parks in between sleeps for ever
// BROKEN=12: parking/visit stop does not count as searching whom it wakes: the count goes below 0
// BROKEN=13: parking/pass_on the finder looks before it is no longer counted as searching: what comes in between is seen by nobody
// BROKEN=14: crew/goal nobody looks after room was made: what was posted before waits
// BROKEN=15: crew/goal the control looks before it makes room: what comes in between is seen by nobody
// BROKEN=16: inbox/gather the inbox is emptied before the count says that there is something: a sleeper sees it nowhere
// BROKEN=17: inbox/take out of the count before it is in the FIFO: as above
//
// ALSO -DWORKERS=3 -DFULL_ROOM -DNO_LOTS -DONLY=BATCH: two may search at once; each takes one item; there is room for all from the start
// ALSO -DWORKERS=3 -DFULL_ROOM -DONLY=SPAWNS: two may search at once; there is room for all from the start
// ALSO -DWORKERS=3 -DFULL_ROOM -DONLY=FORKS: two may search at once; there is room for all from the start

#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef WORKERS
#define WORKERS 2
#endif
#define ITEMS WORKERS

#define POSTS 1
#define BATCH 2
#define SPAWNS 3
#define FORKS 4
#define WAITS 5
#define JOINS 6
#define HAS_SHORT_ITEM (source <= SPAWNS)

// What owners store, and others read.
#define TAIL(w) (w)
#define SPLIT(w) (WORKERS + (w))
#define LOCATIONS (2 * WORKERS)
#define BUFFERED (WORKERS + 1)
#define OUTSIDE WORKERS  // posters and control: they store nothing but by read-modify-write operations
#include "store_buffer.pml"

byte source;  // one of the cases
// What is changed by read-modify-write operations only.
byte searching, room = WORKERS;  // one word
byte head[WORKERS], top[WORKERS];
byte posting;

byte inbox;  // read-modify-write only
// The injection lane: under its lock, but for the looks at the count. All stores of the count are seq_cst, or come
// before one that is.
bool lane_lock;
byte waiting, count;
// Under the idle lock.
bool idle_lock, stopping;
byte idle_stack[WORKERS], sleepers;

#define RUNNING 0
#define PARKED 1
#define NOTIFIED 2
byte signal[WORKERS];

bool root_begun;  // the first item
byte begun, ended, threads_ended;
bool raised;  // crew/goal is over
bool gone;

inline lock(p) {
  atomic { !idle_lock && DRAINED(p) -> idle_lock = true }
}

// parking/wake
inline wake_one(p) {
  if
  :: searching != 0 || room == 0
  :: else ->
     lock(p);
     assert(!gone);
     if
     :: room == 0 || stopping || searching != 0 -> idle_lock = false
     :: else ->
        atomic {
          sleepers--;
          chosen = idle_stack[sleepers];
          idle_stack[sleepers] = 0;
          room--;
          searching++
        }
        idle_lock = false;
        signal[chosen] = NOTIFIED;
        chosen = 0
     fi
  fi
}

inline look_at_all() {
  found = (inbox > 0);
  if
  :: !found -> found = (count > 0)
  :: else
  fi;
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

inline end_search() {
  if
  :: is_searching ->
     is_searching = false;
#if BROKEN == 13
     look_at_all();
#endif
     atomic {
       DRAINED(me) ->
       assert(searching > 0);
       last = (searching == 1);
       searching--
     }
#if BROKEN != 7
     if
     :: last ->  // parking/pass_on
        last = false;
#if BROKEN != 13
        look_at_all();
#endif
        if
        :: found -> wake_one(me)
        :: else
        fi
     :: else
     fi;
     found = false
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
inline gather() {
  if
  :: waiting == 0 && inbox > 0 ->
#if BROKEN == 16
     atomic { waiting = inbox; inbox = 0 }
     count = waiting
#else
     count = 1;  // inbox/gather
     atomic { waiting = inbox; inbox = 0 }
     count = waiting
#endif
  :: else
  fi
}
inline take_injected() {
  found = (inbox > 0);
  if
  :: !found -> found = (count > 0)
  :: else
  fi;
  if
  :: found ->
     found = false;
     atomic { !lane_lock && DRAINED(me) -> lane_lock = true }
     gather();
     if
     :: waiting > 0 ->
        found = true;
        waiting--;
#if BROKEN == 17
        if
        :: waiting > 0 ->
           waiting--;
           count = waiting;
           forked = LOAD(me, TAIL(me)) + 1;
           store_seq_cst(me, TAIL(me), forked);
           forked = 0
        :: true -> count = waiting
        fi
#elif !defined(NO_LOTS)
        if
        :: waiting > 0 ->
           waiting--;
           forked = LOAD(me, TAIL(me)) + 1;
           store_seq_cst(me, TAIL(me), forked);
           forked = 0
        :: true
        fi;
        count = waiting  // inbox/take
#else
        count = waiting
#endif
     :: else
     fi;
     lane_lock = false
  :: else
  fi
}

inline publish(place, value) {
#if BROKEN == 2
  store(me, place, value, RELEASE)
#else
  store_seq_cst(me, place, value)  // parking/post
#endif
}

inline expose(until) {
#if BROKEN == 10
  store(me, SPLIT(me), until, RELEASE)
#else
  store_seq_cst(me, SPLIT(me), until)  // parking/expose
#endif
}

proctype worker(byte me) {
  byte w, chosen, forked;
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
     :: 2 * searching < (WORKERS - room > 2 -> WORKERS - room : 2) ->
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
  signal[me] = PARKED;  // parking/lie_down
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
  atomic {  // parking/announce
    idle_stack[sleepers] = me;
    sleepers++;
    room++;
    assert(searching >= is_searching);
    searching = searching - is_searching;
#if BROKEN == 4
    look = !is_searching && searching == 0;
#elif BROKEN == 5
    look = is_searching && searching == 0;
#else
    look = (searching == 0);  // parking/look
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

inline wake_if(look) {
  if
  :: look -> wake_one(OUTSIDE)
  :: else
  fi
}

// parking/post
proctype poster(byte left, lot) {
  byte chosen;
  bool behind, look;
  do
  :: left > 0 ->
     atomic {
       look = true;
       behind = (inbox > 0);
       if
       :: behind -> inbox = inbox + lot
       :: else -> posting++  // parking/visit
       fi
     }
     if
     :: behind
     :: else ->
#if BROKEN == 1
        look = (searching == 0 && room > 0);
#endif
        inbox = inbox + lot;
        wake_if(look);
        assert(!gone);
        posting--
     fi;
     left--
  :: else -> break
  od
}

// crew/goal
proctype control(byte me) {
  byte w, chosen;
  bool found;
#if BROKEN == 15
  look_at_all();
#endif
  room++;
#if BROKEN != 14
#if BROKEN != 15
  look_at_all();
#endif
  if
  :: found -> wake_one(me)
  :: else
  fi;
#endif
  assert(!gone);
  raised = true
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
    if
    :: source == POSTS -> run poster(ITEMS, 1); run poster(1, 1)
    :: source == BATCH -> run poster(1, ITEMS + 1)
    :: else -> run poster(1, 1)
    fi;
#ifdef FULL_ROOM
    raised = true
#else
    if
    :: source == POSTS -> raised = true
    :: else -> room--; run control(OUTSIDE)
    fi
#endif
  }
  ended == ITEMS + HAS_SHORT_ITEM && raised;
#if BROKEN == 11
  atomic { !idle_lock -> taken = sleepers; sleepers = 0; room = room - taken; searching = searching + taken; w = taken }
#else
  atomic {
    !idle_lock ->
    stopping = true;
    w = sleepers;
    sleepers = 0;
    room = room - w;
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
  posting == 0;  // parking/visit
#endif
  gone = true;
  assert(inbox == 0 && waiting == 0 && count == 0 && searching == 0 && room == 0)
}
