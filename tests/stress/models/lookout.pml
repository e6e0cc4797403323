// lookout.pml: who comes for a young item: nothing that its owner leaves lying is forgotten.
// SPDX-License-Identifier: MIT
//
// work_order.cpp and worker_loop.cpp, protocol lookout of runtime/src/worker/README.md, with parking of runtime/src/crew/README.md (which
// has a model of its own, park_wake). A worker that is awake exposes one item after the other in a lane that was
// empty, and takes each back unless somebody else has taken it; the last one it leaves lying, and waits for it.
// Two others sleep. One of them may be handed an item, which is not over before that last one has been taken.
//
//   lanes/ripe       an item is young when it is exposed; at some time it is not
//   lookout/expose   the item is public; then, without a lookout, parking/wake
//   lookout/begin    whoever has searched, and seen an item that is young, and parks: by an exchange
//   lookout/look     now and then: ripe: it gets up, and is no lookout any more. Nothing new: lookout/end
//   lookout/end      first there is no lookout, then it looks; if there is something: parking/wake. Likewise whoever
//               is woken with an item in hand. Whoever is woken to search, searches after it
//   lookout/leave    whoever parks when nobody searches leaves what is young to a lookout, if there is one
//
// Proved: the last item is taken; nothing hangs; nobody parks who is still the lookout.
//
// BROKEN=1: lookout/expose asks for a lookout before the item is public: it ends in between
// BROKEN=2: lookout/leave leaves what is young though there is no lookout: nobody looks again
// BROKEN=3: lookout/end does not look: what was exposed while there was a lookout lies there for ever
// BROKEN=4: lookout/end looks before there is no lookout: likewise
// BROKEN=5: lookout/end whoever is woken with an item in hand does not look: likewise
// BROKEN=6: lookout/end whoever gets up goes on being the lookout, and sleeps as one no more: as 5

#ifndef BROKEN
#define BROKEN 0
#endif

#define WORKERS 2
#define ITEMS 3

bool public, young, there;
bool last_is_taken, finished;
byte exposed;

// One word, and what is under the idle lock.
byte searching, room = WORKERS;
bool asleep[WORKERS];

#define PARKED 0
#define TO_SEARCH 1
#define WITH_ITEM 2
#define RUNNING 3
byte signal[WORKERS];

// parking/wake. Whoever is chosen: any order of the stack.
inline wake_one() {
  if
  :: searching != 0 || room == 0
  :: else ->
     atomic {
       if
       :: searching != 0 || room == 0
       :: else ->
          if
          :: asleep[0] -> chosen = 0
          :: asleep[1] -> chosen = 1
          fi;
          asleep[chosen] = false;
          room--;
          searching++;
          signal[chosen] = TO_SEARCH;
          chosen = 0
       fi
     }
  fi
}

inline end_lookout_and_look() {
  looks = false;
#if BROKEN == 4
  found = public;
#endif
  there = false;
#if BROKEN == 3
  found = false;
#elif BROKEN != 4
  found = public;
#endif
  if
  :: found -> wake_one()
  :: else
  fi;
  found = false
}

proctype worker(byte me) {
  byte chosen;
  bool looks, saw_young, found, last, watched;
  goto parked;

search:  // counted as searching
  saw_young = false;
  if
  :: public && !young ->
     atomic {  // by a CAS
       if
       :: public -> public = false; found = true; last_is_taken = (exposed == ITEMS)
       :: else
       fi
     }
  :: public && young -> saw_young = true
  :: !public
  fi;
  if
  :: found ->  // its item is over at once
     found = false;
     atomic { assert(searching > 0); searching-- };
     searching++;  // parking/pass_on has a model of its own
     goto search
  :: else
  fi;

  atomic {  // under the idle lock: lookout/begin, parking/announce
#if BROKEN != 6
    assert(!looks);
#endif
    if
    :: saw_young && !there -> there = true; looks = true
    :: else
    fi;
    saw_young = false;
    signal[me] = PARKED;
    asleep[me] = true;
    assert(searching > 0);
    searching--;
    room++;
    last = (searching == 0)
  };
  if
  :: last ->  // parking/look
     last = false;
#if BROKEN == 2
     watched = true;
#else
     watched = there;  // lookout/leave
#endif
     if
     :: public && !(watched && young) -> wake_one()
     :: else
     fi;
     watched = false
  :: else
  fi;

parked:
end_parked:
  if
  :: atomic { signal[me] == TO_SEARCH -> signal[me] = RUNNING };
     if
     :: looks -> looks = false; there = false  // lookout/end: it searches now
     :: else
     fi;
     goto search
  :: atomic { signal[me] == WITH_ITEM -> signal[me] = RUNNING };
     if
     :: looks ->
#if BROKEN == 5
        looks = false;
        there = false
#else
        end_lookout_and_look()
#endif
     :: else
     fi;
     last_is_taken;
     searching++;
     goto search
  :: looks && signal[me] == PARKED ->  // lookout/look
     if
     :: public && !young ->
        atomic {  // gets up by itself
          if
          :: asleep[me] && room > 0 ->
             asleep[me] = false;
             signal[me] = RUNNING;
             room--;
             searching++;
             found = true
          :: else
          fi
        };
        if
        :: found ->
           found = false;
#if BROKEN == 6
           looks = false;
#else
           looks = false;
           there = false;
#endif
           goto search
        :: else -> goto parked
        fi
     :: public && young -> goto parked
     :: !public -> goto parked  // something was exposed since it looked last
     :: !public -> end_lookout_and_look(); goto parked
     fi
  fi
}

// A worker that is awake, and has many things to do in a row.
proctype owner() {
  byte chosen;
  bool watched;
  do
  :: exposed < ITEMS ->
#if BROKEN == 1
     watched = there;
#endif
     atomic { exposed++; young = true; public = true };
#if BROKEN != 1
     watched = there;  // lookout/expose
#endif
     if
     :: watched
     :: else -> wake_one()
     fi;
     watched = false;
     if
     :: exposed < ITEMS -> public = false  // it takes it back, or it has been taken
     :: else -> last_is_taken
     fi
  :: else -> break
  od;
  finished = true
}

// submissions/hand_over
proctype hander() {
  byte chosen;
  if
  :: true ->
     atomic {
       if
       :: asleep[0] -> chosen = 0; asleep[0] = false; room--; signal[0] = WITH_ITEM
       :: asleep[1] -> chosen = 1; asleep[1] = false; room--; signal[1] = WITH_ITEM
       :: !asleep[0] && !asleep[1]
       fi
     }
  :: true
  fi
}

// Whatever is public is ripe at some time.
proctype time() {
  do
  :: atomic { public && young -> young = false }
  :: finished -> break
  od
}

init {
  atomic {
    asleep[0] = true;
    asleep[1] = true;
    run worker(0);
    run worker(1);
    run owner();
    run hander();
    run time()
  };
  finished && searching == 0;
  assert(last_is_taken)
}
