// split_lane.pml: the whole split lane: private end, public end, taking back half, attention; two thieves.
// SPDX-License-Identifier: MIT
//
// The lane of detail/fork_lane.hpp on a ring of four slots. [top, split) is public, [split, bottom) private.
// The owner does anything in any order: push, pop, look after the lane, expose everything (as before it waits).
//
//   fork_lane/push push        store the slot, bottom + 1; if attention is set: fork_lane/expose
//   fork_lane/pop pop         something private: bottom - 1. Else fork_lane/take_back
//   fork_lane/take_back take back   announce the younger half of the public part (seq_cst), then read top (seq_cst); top below
//                  that: all of it is private. Else put split back, and fork_lane/take_last
//   fork_lane/take_last take one    announce split - 1 (seq_cst), then read top (seq_cst); the last one: compete by a CAS on
//                  top. A lane that is empty now sets its own attention
//   fork_lane/steal steal       read top, split, the slot; CAS top; then read split again (seq_cst): nothing public is left:
//                  set attention
//   fork_lane/expose look after  exchange attention to false, then read top; if nothing is public expose half of what is
//                  private (seq_cst, for parking/wake); if nothing is private either, set attention again
//
// Proved: no item is taken twice, none is lost, nobody takes what was never pushed; and whenever the owner has
// finished an operation while no thief is inside fork_lane/steal: if nothing is public, attention is set, so that the next
// push exposes. "Nothing is public and nobody says so" would leave a whole recursion to one worker.
// That a slot is written before it is exposed is proved in deque.pml; here slots have no store buffer.
//
// BROKEN=1: fork_lane/take_back announces by a release store: a thief takes one of the half
// BROKEN=2: fork_lane/take_last announces by a release store: owner and thief take one item
// BROKEN=3: fork_lane/take_last takes the last item without the CAS: owner and thief take it
// BROKEN=4: fork_lane/take_back keeps the half also if top is at its lower end: a thief takes that one
// BROKEN=5: fork_lane/steal compares with the split that it read before its CAS: the owner has lowered it, attention is lost
// BROKEN=6: fork_lane/steal reads split again, but before its CAS: the owner lowers it in between, attention is lost
// BROKEN=7: fork_lane/expose clears attention by a release store instead of an exchange: it overwrites a thief's
// BROKEN=8: fork_lane/expose clears attention after it has read top: it overwrites a thief's
// BROKEN=9: fork_lane/expose leaves attention cleared when the lane is empty: the next push stays private, nobody will ask
// BROKEN=10: fork_lane/take_last does not set attention when the lane has become empty: as above

#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef ITEMS
#define ITEMS 5
#endif
#define RING 4
#define THIEVES 2

#define TOP 0
#define SPLIT 1
#define ATTENTION 2
#define LOCATIONS 3
#define BUFFERED 1
#include "store_buffer.pml"

#define OWNER 0

byte slots[RING];
bool taken[ITEMS + 1];
byte taken_count;
byte stealing;  // thieves between their CAS and their last step
bool owner_done;
byte thieves_done;

inline take(x) {
  d_step {
    assert(x != 0);
    assert(!taken[x]);
    taken[x] = true;
    taken_count++;
    x = 0
  }
}

active proctype owner() {
  byte bottom, split, top, pushed, lower, x;
  bool found_nothing;
  mem[ATTENTION] = true;  // initially, before any push
again:
  atomic {
    assert(stealing > 0 || mem[TOP] < split || LOAD(OWNER, ATTENTION));
    lower = 0;
    top = 0
  }
  if
  :: atomic {  // fork_lane/push
       pushed < ITEMS && bottom - mem[TOP] < RING ->  // the real one grows
       pushed++;
       slots[bottom % RING] = pushed;
       bottom++
     }
     if
     :: LOAD(OWNER, ATTENTION) -> goto look_after
     :: else -> goto again
     fi
  :: atomic {  // fork_lane/pop
       bottom > split ->
       bottom--;
       x = slots[bottom % RING];
       take(x)
     }
     goto again
  :: bottom == split -> goto take_back
  :: LOAD(OWNER, ATTENTION) -> goto look_after
  :: bottom > split ->  // expose everything
     store_seq_cst(OWNER, SPLIT, bottom);
     split = bottom;
     goto again
  fi;

take_back:  // fork_lane/take_back
  top = mem[TOP];
  if
  :: split <= top ->
     found_nothing = true;
     goto empty_now
  :: split == top + 1  // fork_lane/take_last
  :: split > top + 1 ->
     lower = split - (split - top + 1) / 2;
#if BROKEN == 1
     store(OWNER, SPLIT, lower, RELEASE);
#else
     store_seq_cst(OWNER, SPLIT, lower);
#endif
     top = mem[TOP];
     if
#if BROKEN == 4
     :: top <= lower ->
#else
     :: top < lower ->
#endif
        atomic {
          split = lower;
          bottom--;
          x = slots[bottom % RING];
          take(x)
        }
        goto again
     :: else -> store_seq_cst(OWNER, SPLIT, split)
     fi
  fi;
  // fork_lane/take_last
  lower = split - 1;
#if BROKEN == 2
  store(OWNER, SPLIT, lower, RELEASE);
#else
  store_seq_cst(OWNER, SPLIT, lower);
#endif
  top = mem[TOP];
  if
  :: top < lower ->
     atomic {
       split = lower;
       bottom = lower;
       x = slots[bottom % RING];
       take(x)
     }
     goto again
  :: top == lower ->
     atomic {
       DRAINED(OWNER);
#if BROKEN != 3
       if
       :: mem[TOP] != lower
       :: else ->
          mem[TOP] = lower + 1;
          x = slots[lower % RING];
          take(x)
       fi
#else
       x = slots[lower % RING];
       take(x)
#endif
     }
  :: top > lower
  fi;
  store(OWNER, SPLIT, split, RELAXED);

empty_now:
#if BROKEN != 10
  store(OWNER, ATTENTION, true, RELAXED);
#endif
  if
  :: found_nothing && pushed == ITEMS -> goto finished
  :: else ->
     found_nothing = false;
     goto again
  fi;

look_after:  // fork_lane/expose
#if BROKEN == 7
  store(OWNER, ATTENTION, false, RELEASE);
#elif BROKEN != 8
  store_seq_cst(OWNER, ATTENTION, false);
#endif
  top = mem[TOP];
#if BROKEN == 8
  store_seq_cst(OWNER, ATTENTION, false);
#endif
  if
  :: top < split
  :: top >= split && bottom > split ->
     split = split + (bottom - split + 1) / 2;
     store_seq_cst(OWNER, SPLIT, split)
#if BROKEN == 9
  :: top >= split && bottom == split
#else
  :: top >= split && bottom == split -> store(OWNER, ATTENTION, true, RELAXED)
#endif
  fi;
  goto again;

finished:
  owner_done = true;
  thieves_done == THIEVES -> assert(taken_count == ITEMS)
}

active [THIEVES] proctype thief() {
  byte t, s, x;
  bool won;
  do
  :: owner_done && mem[TOP] >= mem[SPLIT] -> break
  ::
     t = mem[TOP];  // fork_lane/steal
     s = mem[SPLIT];
     if
     :: t >= s
     :: else ->
        x = slots[t % RING];
#if BROKEN == 6
        s = mem[SPLIT];
#endif
        atomic {
          if
          :: mem[TOP] == t -> mem[TOP] = t + 1; won = true; stealing++
          :: else
          fi
        }
        if
        :: won ->
           take(x);
#if BROKEN != 5 && BROKEN != 6
           s = mem[SPLIT];  // pairs with fork_lane/take_back and fork_lane/take_last: of them and this one sees the other
#endif
           atomic {
             if
#if BROKEN == 5 || BROKEN == 6
             :: t + 1 == s -> mem[ATTENTION] = true
#else
             :: t + 1 >= s -> mem[ATTENTION] = true
#endif
             :: else
             fi;
             stealing--
           }
        :: else
        fi
     fi;
     d_step { t = 0; s = 0; x = 0; won = false }
  od;
  thieves_done++
}
