// deque.pml: the public part of a fork lane: an owner that pushes and takes back, two thieves.
// SPDX-License-Identifier: MIT
//
// Chase and Lev with operations instead of fences: detail/fork_lane.hpp with every item public at once, on a
// ring of two slots, so that slots are used again. [top, split) is public; steps as there.
//
//   fork_lane/push push      store the slot
//   fork_lane/expose expose    then split (release)
//   fork_lane/take_last take one  announce split - 1 (seq_cst), then read top (seq_cst); if it was the last item: compete for it
//                by a CAS on top
//   fork_lane/steal steal     read top, then split (both seq_cst), then the slot; CAS top; failing means that somebody else
//                has the item
//
// Proved: no item is taken twice, none is lost, nobody takes what was never pushed.
//
// BROKEN=1: fork_lane/take_last announces by a release store: owner and thief take one item
// BROKEN=2: fork_lane/take_last takes the last item without the CAS: owner and thief take it
// BROKEN=3: fork_lane/steal reads split before top: a thief takes what the owner has taken back
// BROKEN=4: fork_lane/steal reads the slot after its CAS: the owner has written another item into it
// BROKEN=5: fork_lane/expose exposes by a relaxed store: a thief reads a slot that was not written yet
// BROKEN=6: fork_lane/push believes that the ring has one slot more: an item is overwritten
// BROKEN=7: fork_lane/take_last leaves split where it announced it after a thief was faster: the next push is lost

#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef ITEMS
#define ITEMS 5
#endif
#define RING 2
#ifndef THIEVES
#define THIEVES 2
#endif

#define TOP 0
#define SPLIT 1
#define SLOT(i) (2 + (i) % RING)
#define LOCATIONS (2 + RING)
#define BUFFERED 1
#define RELAXED_STORES
#include "store_buffer.pml"

#define OWNER 0

bool taken[ITEMS + 1];
byte taken_count;
bool owner_done;
byte thieves_done;

inline take(x) {
  atomic {
    assert(x != 0);
    assert(!taken[x]);
    taken[x] = true;
    taken_count++;
    x = 0
  }
}

active proctype owner() {
  byte bottom, top, pushed, s, x;
  do
  :: pushed < ITEMS ->
     top = mem[TOP];  // acquire: slots before it are free
     if
#if BROKEN == 6
     :: bottom - top <= RING ->
#else
     :: bottom - top < RING ->
#endif
        pushed++;
        store(OWNER, SLOT(bottom), pushed, RELAXED);  // fork_lane/push
        bottom++;
#if BROKEN == 5
        store(OWNER, SPLIT, bottom, RELAXED)
#else
        store(OWNER, SPLIT, bottom, RELEASE)  // fork_lane/expose
#endif
     :: else  // the real one grows
     fi
  :: top = mem[TOP];
     if
     :: bottom <= top ->
        if
        :: pushed == ITEMS -> break
        :: else
        fi
     :: else ->
        s = bottom - 1;
#if BROKEN == 1
        store(OWNER, SPLIT, s, RELEASE);
#else
        store_seq_cst(OWNER, SPLIT, s);  // fork_lane/take_last
#endif
        top = mem[TOP];
        if
        :: top < s ->
           bottom = s;
           x = LOAD(OWNER, SLOT(s));
           take(x)
        :: top == s ->
           atomic {
             DRAINED(OWNER);
             x = LOAD(OWNER, SLOT(s));
#if BROKEN != 2
             if
             :: mem[TOP] == s -> mem[TOP] = s + 1
             :: else -> x = 0
             fi
#endif
           }
           if
           :: x != 0 -> take(x)
           :: else
           fi;
           store(OWNER, SPLIT, bottom, RELAXED)
        :: top > s ->
#if BROKEN != 7
           store(OWNER, SPLIT, bottom, RELAXED)
#else
           bottom = s
#endif
        fi
     fi;
     s = 0
  od;
  owner_done = true;
  thieves_done == THIEVES -> assert(taken_count == ITEMS)
}

active [THIEVES] proctype thief() {
  byte t, s, x;
  bool won;
  do
  :: owner_done && mem[TOP] >= mem[SPLIT] -> break
  ::
#if BROKEN == 3
     s = mem[SPLIT];
     t = mem[TOP];
#else
     t = mem[TOP];  // fork_lane/steal
     s = mem[SPLIT];
#endif
     if
     :: t >= s
     :: else ->
#if BROKEN != 4
        x = mem[SLOT(t)];
#endif
        atomic {
          if
          :: mem[TOP] == t -> mem[TOP] = t + 1; won = true
          :: else
          fi
        }
#if BROKEN == 4
        x = mem[SLOT(t)];
#endif
        if
        :: won -> take(x)
        :: else
        fi
     fi;
     d_step { t = 0; s = 0; x = 0; won = false }
  od;
  thieves_done++
}
