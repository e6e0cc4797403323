// look.pml: a wait in the slot of a stop state, whoever ends it, a stopper, and two looks one after the other.
// SPDX-License-Identifier: MIT
//
// stop.cpp and stop_look.cpp (protocol stopping): a word for the slot, one for what the waiter says
// ("handed"). All operations are acq_rel on one word each; a weaker order changes nothing here,
// since each actor decides by the value that its own CAS finds.
//
//   stopping/take_back  the completer's CAS slot: leaf -> null; then it resumes
//   stopping/leave      it failed: CAS handed no -> over, and leaves; over: resumes; looked_at: again
//   stopping/request    the stopper's exchange slot -> stopped; held: nothing; leaf: forgets a look,
//                       on_stop (takes the operation from its source, unless the completer has it),
//                       then hand_over: the second one resumes
//   stopping/hold       the look's CAS slot: leaf -> held; it forgets an earlier look
//   stopping/put_back   CAS handed no -> looked_at; failed: slot held -> null, resumes. Then CAS slot
//                       held -> leaf; failed: forgets, and stops in the stopper's place
//
// Proved: the task is resumed once, and nobody touches the waiter after that; with or without a stop
// it is resumed in the end.
//
// BROKEN=1: stopping/put_back without its first CAS: whoever has left meanwhile is not seen
// BROKEN=2: stopping/put_back writes the leaf into the slot though a stop came: the stop is lost
// BROKEN=3: stopping/leave takes "looked_at" for "over": two resume
// BROKEN=4: stopping/hold does not forget an earlier look: whoever ends the wait never leaves
// BROKEN=5: stopping/request does not forget an earlier look: whoever completes waits for a hand-over that is its own to make

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef LOOKS
#define LOOKS 2
#endif

#define NONE 0
#define LEAF 1
#define HELD 2
#define STOPPED 3

#define NO 0
#define OVER 1
#define LOOKED_AT 2

byte slot = LEAF;      // it is published
byte handed = NO;
bool detached;         // from its source: by the completer, or by a stop; under the source's lock
bool resumed;
byte done;             // actors that have left
bool chosen;           // what the operation is like:
bool silent;           // only a stop ends it
bool keeps;            // a stop leaves its hold to whoever completes (I/O), in a request of its own
bool cancel_posted;    // that request

inline touch() { assert(!resumed) }

inline resume() {
  atomic {
    assert(!resumed);
    resumed = true
  }
}

// hand_over() of a stopper, or of a look in its place. second: it resumes
inline hand_over(second) {
  atomic {
    touch();
    second = (handed == OVER);
    handed = OVER
  }
}

inline forget() {
  atomic {
    touch();
    if
    :: handed == LOOKED_AT -> handed = NO
    :: else
    fi
  }
}

// on_stop and what follows, for a waiter that is ours.
inline stop_one(was_there, second) {
  if
  :: keeps -> atomic { touch(); cancel_posted = true }
  :: else ->
     atomic {  // under the lock of the source
       touch();
       was_there = !detached;
       detached = true
     }
     if
     :: was_there -> hand_over(second)  // finish_stopped(): the completer's half
     :: else
     fi;
     hand_over(second);
     if
     :: second -> resume()
     :: else
     fi
  fi
}

// stopping/take_back, stopping/leave
inline finish() {
  do
  :: atomic {
       if
       :: slot == LEAF -> slot = NONE; resume(); break
       :: else
       fi
     }
     atomic {
       touch();
       if
       :: handed == NO -> handed = OVER; break
       :: handed == OVER -> resume(); break
#if BROKEN == 3
       :: handed == LOOKED_AT -> resume(); break
#else
       :: handed == LOOKED_AT
#endif
       fi
     }
     // Again. It turns round and round until one of these has changed.
     (slot == LEAF || handed != LOOKED_AT)
  od
}

// Takes it out of its source, unless a stop was first, and ends it; or, where it keeps the hold of a
// stop, ends it and takes the request, in any order.
active proctype completer() {
  bool mine, completed, cancelled, second;
  atomic {
    if
    :: silent = true
    :: silent = false
    fi;
    if
    :: keeps = true
    :: keeps = false
    fi;
    chosen = true
  }
  do
  :: !keeps && !silent && !completed ->
     atomic {  // the waiter is not touched if it is not there any more
       completed = true;
       mine = !detached;
       detached = true
     }
     if
     :: mine -> finish()
     :: else
     fi
  :: keeps && !completed && (!silent || cancelled) ->
     completed = true;
     finish()
  :: keeps && cancel_posted ->
     cancel_posted = false;
     cancelled = true;
     hand_over(second);
     if
     :: second -> resume()
     :: else
     fi
  :: resumed && done == 2 -> break
  od;
  done++
}

active proctype stopper() {
  byte found;
  bool was_there, second;
  chosen;
  if
  :: true ->
     atomic { found = slot; slot = STOPPED }  // stopping/request
     if
     :: found == LEAF ->
#if BROKEN != 5
        forget();
#endif
        stop_one(was_there, second)
     :: else
     fi
  :: !silent  // nobody stops it
  fi;
  done++
}

active proctype look() {
  byte looks;
  bool held, was_there, second;
  chosen;
  do
  :: looks < LOOKS ->
     looks++;
     atomic {  // stopping/hold
       held = (slot == LEAF);
       if
       :: held -> slot = HELD
       :: else
       fi
     }
     if
     :: held ->
#if BROKEN != 4
        forget();
#endif
        touch();  // what is shown
#if BROKEN != 1
        atomic {  // stopping/put_back
          touch();
          if
          :: handed == NO -> handed = LOOKED_AT; held = true
          :: else -> held = false
          fi
        }
#else
        handed = LOOKED_AT;
#endif
        if
        :: held ->
#if BROKEN == 2
           slot = LEAF
#else
           atomic {
             if
             :: slot == HELD -> slot = LEAF
             :: else -> held = false
             fi
           }
           if
           :: held
           :: else ->  // a stop came: in the stopper's place
              forget();
              stop_one(was_there, second)
           fi
#endif
        :: else ->
           atomic {
             if
             :: slot == HELD -> slot = NONE
             :: else
             fi
           }
           resume()
        fi
     :: else
     fi
  :: else -> break
  od;
  done++
}

// Whatever happens all leave, and the task goes on: the completer waits for that.
