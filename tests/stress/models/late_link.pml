// late_link.pml: stop states that enter their parents' lists only when something below waits.
// SPDX-License-Identifier: MIT
//
// stop.cpp (protocol stopping, step late). A root, which is linked from the start, and two groups, one in
// the other, which are not: children of both wait, or only ask whether they have been stopped. A stop comes to the root at any time, and another one to the inner
// group.
//
//   stopping/late     a waiter that finds "not linked" in the slot: from its own state upwards to the
//                     first that is linked, each enters the list of its parent, under the parent's
//                     lock, and is stopped if the parent has been; then, from its own state upwards,
//                     slot: not linked -> null by a CAS. A listener looks at the slot first
//                     Its reason says "as above" until it is stopped: whoever asks, asks the parents
//   stopping/publish  the CAS slot: null -> leaf; a second leaf goes to the list under the lock
//   stopping/request  under the lock: the reason is set, then the slot exchanged for "stopped"
//
// Proved: whoever waits is stopped once a stop has come, and is in no slot after that; a state is in its
// parent's list at most once; whoever asks once the root has its reason is told of it.
//
// BROKEN=1: stopping/late enters the states only after the first wait has been let in, and does not look then: the stop passes by
// BROKEN=2: stopping/late does not look whether the parent has been stopped before: nobody stops it
// BROKEN=3: stopping/late enters only the state itself: the stop does not come down to its parent
// BROKEN=4: stopping/late does not look whether a sibling has entered the state: it is in the list twice
// BROKEN=5: stopping/request takes "as above" for a reason: what was not linked is never stopped
// BROKEN=6: whoever asks takes "as above" for "none"
// BROKEN=7: stopping/late writes null into the slot though a stop came between
// BROKEN=8: a listener goes to the list of a state that is not linked yet
// BROKEN=9: stopping/late also sets the reason to "none": whoever was told of a stop is told that there is none

// ALSO -DINNER: a stop of the inner group instead of the third waiter

#ifndef BROKEN
#define BROKEN 0
#endif

#define NONE 0
#define STOP 1
#define AS_ABOVE 2

// In a slot: a leaf is its waiter's number.
#define EMPTY 3
#define STOPPED 4
#define UNLINKED 5

#define WAITERS 3

// State 0 is the root, 1 its child, 2 the child of that. Waiter 2 waits in 1, the others in 2; waiter 1
// is a listener.
byte reason[3];
byte slot[3];
byte listed[3];  // how often it is in the list of its parent
bool locked[3];
bool in_list[WAITERS];  // of its state: the second leaf, or a listener
bool over[6];           // the wait has ended; those behind the waiters stand for no leaf
byte walks;             // that are going on for waiter n: bit n

#define is_not_linked(s) (slot[s] == UNLINKED || (s > 0 && listed[s] == 0))
#define state_of(w) (w == 2 -> 1 : 2)
#if BROKEN == 5
#define may_be_stopped(s) (reason[s] == NONE)
#else
#define may_be_stopped(s) (reason[s] != STOP)
#endif

inline lock(s) { atomic { !locked[s]; locked[s] = true } }
inline unlock(s) { locked[s] = false }

#define ends(w, s) over[w] = over[w] || (in_list[w] && state_of(w) == s); in_list[w] = in_list[w] && state_of(w) != s

// Under the lock of s. stopping/request
inline mark(s) {
  reason[s] = STOP;
  atomic {
    over[slot[s]] = true;
    slot[s] = STOPPED;
    ends(0, s);
    ends(1, s);
    ends(2, s)
  }
}

// stopping/request, stopping/walk, with the locks of the path. by: the waiter that does it, or 3
proctype request_stop(byte top, by) {
  byte at = top;
  do
  :: lock(at);
     if
     :: may_be_stopped(at) ->
        mark(at);
        if
        :: at < 2 && listed[at + 1] > 0 -> at++
        :: else -> break
        fi
     :: else -> break
     fi
  od;
  do
  :: unlock(at);
     if
     :: at == top -> break
     :: else -> at--
     fi
  od;
  atomic { walks = walks & ~(1 << by) }
}

inline stop_now(s, w) {
  atomic { walks = walks | (1 << w); run request_stop(s, w) }
  (walks & (1 << w)) == 0
}

// stopping/late: the list of the parent, under its lock; a stop that the parent has.
inline enter(s, w) {
  lock(s - 1);
#if BROKEN == 4
  listed[s]++;
#else
  listed[s] = 1;
#endif
  assert(listed[s] < 2);
  found = reason[s - 1];
  unlock(s - 1);
#if BROKEN != 1 && BROKEN != 2
  if
  :: found == STOP -> stop_now(s, w)
  :: else
  fi
#endif
}

inline let_in(s) {
#if BROKEN == 7
  slot[s] = EMPTY
#else
  atomic {
    if
    :: slot[s] == UNLINKED -> slot[s] = EMPTY
    :: else
    fi
  }
#endif
#if BROKEN == 9
  ;
  atomic {
    if
    :: reason[s] == AS_ABOVE -> reason[s] = NONE
    :: else
    fi
  }
#endif
}

// at and top are the waiter's own.
inline link_now(s, w) {
  at = s;
#if BROKEN == 1
  let_in(s);
  enter(at, w);
#endif
  do
  :: is_not_linked(at) ->
     enter(at, w);
     at--;
#if BROKEN == 3
     break
#endif
  :: else -> break
  od;
  top = at;
  at = s;
  do
  :: at > top -> let_in(at); at--
  :: else -> break
  od
}

// What the first one says that does not say "as above".
inline ask(s) {
  at = s;
  told = reason[at];
#if BROKEN != 6
  do
  :: told == AS_ABOVE -> at--; told = reason[at]
  :: else -> break
  od
#endif
}

proctype waiter(byte w) {
  byte at, top, told, found;
  bool before;
  if
  :: true ->  // it only asks
     before = (reason[0] == STOP);
     ask(state_of(w));
     assert(!before || told == STOP);
     goto ends_without
  :: w == 1 -> goto listens
  :: w != 1
  fi;
waits:
  atomic {
    found = slot[state_of(w)];
    if
    :: found == EMPTY -> slot[state_of(w)] = w
    :: else
    fi
  }
  if
  :: found == EMPTY -> goto waiting
  :: found == STOPPED -> goto ends_without
  :: found == UNLINKED -> link_now(state_of(w), w); goto waits
  :: found < WAITERS
  fi;
listens:
#if BROKEN != 8
  if
  :: is_not_linked(state_of(w)) -> link_now(state_of(w), w)
  :: else
  fi;
#endif
  lock(state_of(w));
  over[w] = (reason[state_of(w)] == STOP);
  in_list[w] = !over[w];
  unlock(state_of(w));
waiting:
  over[w];  // or it waits for ever
ends_without:
  skip
}

init {
  atomic {
    reason[1] = AS_ABOVE; reason[2] = AS_ABOVE;
    slot[0] = EMPTY; slot[1] = UNLINKED; slot[2] = UNLINKED;
    run request_stop(0, 3);
#ifdef INNER
    run request_stop(2, 3);  // of the group alone
#else
    run waiter(2);
#endif
    run waiter(0); run waiter(1)
  }
}
