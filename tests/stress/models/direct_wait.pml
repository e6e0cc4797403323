// direct_wait.pml: a task that reads waits in the port of the workers; no byte, no end and no stop is missed.
// SPDX-License-Identifier: MIT
//
// Protocol direct of io, with stopping of runtime. A peer sends some bytes, one by one, and ends when all stops have
// ended what they had to, so that a wait which only a stop can end is there, too. The set of events tells edges: what has
// come since it was told last is one event, and whether the peer has ended by then. The task reads until the end, each time
// with an environment of its own; now and then a read is done elsewhere, by a ring. Two stops come at any time.
//
//   direct/use   task       calls only if its word is not quiet; before the call ready becomes quiet; a call that left
//               something makes it ready; one that has found nothing makes quiet what is not, and calls again; if that was
//               an end, and there is something after all, it is one again
//   direct/wait  task       by a CAS from quiet
//   direct/tell  port       takes out who waits, else notes that something, or the end, has come
//   direct/stop  stopper    notes that it was there, then tells, and ends whom it has taken out
//
// Proved: the task reads all that was sent, and then the end; whoever waits goes on once; a wait ends as stopped only if its
// environment was; nothing hangs.
//
// BROKEN=1: direct/use the word becomes quiet after the call: what came in between is forgotten
// BROKEN=2: direct/use a call that left something does not say so: nobody tells of the rest
// BROKEN=3: direct/use an end that became quiet, and is found to be one, stays quiet: what is behind the last bytes is told to nobody
// BROKEN=4: direct/wait without a CAS: it waits though something has come
// BROKEN=5: direct/tell the end is noted like bytes: a call that took these wipes it
// BROKEN=6: direct/stop tells, then notes: the task looks for the note before, and waits for ever
// BROKEN=7: direct/stop leaves no note: likewise
// BROKEN=8: direct/stop takes the waiter without a CAS: port and stopper go on with the task
// BROKEN=9: direct/wait the task does not look for the note: likewise
// BROKEN=10: direct/tell whoever does not wait is not told: what has come is forgotten
// BROKEN=11: direct/use a call that found nothing makes an end quiet that came during the call: it is forgotten

#ifndef BROKEN
#define BROKEN 0
#endif

#define DATA 3

byte unsent = DATA, at_socket, received;
bool fin, edge, over;

#define QUIET 0
#define READY 1
#define ENDED 2
#define WAITS 3
byte word = READY;
bool posted;    // direct/tell: its job
bool runnable;  // the stopper has posted the task

// The leaf of the wait that is on.
#define NONE 0
#define LEAF 1
#define STOPPED 2
byte slot;
bool handed, cancelled, noted;
bool stopping, stops_are_over;
bool patient;  // the peer sends the last byte, and the end, when what was before has been read

// stopping/hand_over. @second: whether the other one was here before
inline hand_over(second) {
  atomic {
    second = handed;
    handed = true
  }
}

inline make_ready() {
  atomic {
    if
    :: word == QUIET -> word = READY
    :: else
    fi
  }
}

// direct/tell. @took: who has waited
inline tell(has_ended, took) {
  took = false;
  do
  :: true ->
     seen = word;
     if
     :: seen == ENDED || seen == READY && !has_ended -> break
     :: else ->
        if
        :: BROKEN == 10 && seen != WAITS -> break
        :: BROKEN != 10 || seen == WAITS -> skip
        fi;
        if
        :: has_ended && BROKEN != 5 -> next = ENDED
        :: !(has_ended && BROKEN != 5) && seen == WAITS -> next = QUIET
        :: !(has_ended && BROKEN != 5) && seen != WAITS -> next = READY
        fi;
        if
        :: atomic { word == seen -> word = next; took = (seen == WAITS) };
           break
        :: word != seen
        fi
     fi
  od
}

proctype task() {
  bool is_ready, found, left, was_ended, goes_on, at_end;
  do
  :: at_end -> break
  :: !at_end && (at_socket > 0 || fin) ->  // a read elsewhere, which has something at once
     atomic {
       if
       :: at_socket > 0 -> at_socket--; received++
       :: else -> at_end = true
       fi
     }
  :: !at_end ->
     atomic { slot = LEAF; handed = false; cancelled = false; noted = false; is_ready = false };
     do
     :: true ->
        found = false;
        if
        :: is_ready || word != QUIET ->
#if BROKEN != 1
           atomic {
             if
             :: word == READY -> word = QUIET
             :: else
             fi
           };
#endif
           atomic {
             left = true;
             if
             :: at_socket > 0 -> received++; at_socket--; found = true
             :: at_socket > 0 -> received = received + at_socket; at_socket = 0; found = true; left = false
             :: at_socket == 0 && fin -> at_end = true; found = true
             :: at_socket == 0 && !fin -> left = false
             fi
           };
#if BROKEN == 1
           atomic {
             if
             :: word == READY && !left -> word = QUIET
             :: else
             fi
           };
#endif
           if
           :: found && was_ended && BROKEN != 3 -> atomic { word = ENDED; was_ended = false }
           :: found && !(was_ended && BROKEN != 3) && left && BROKEN != 2 -> make_ready()
           :: found && !(was_ended && BROKEN != 3) && (!left || BROKEN == 2)
           :: !found ->
              if
#if BROKEN == 11
              :: atomic { word == ENDED -> word = QUIET }
#else
              :: atomic { word != QUIET -> was_ended = (word == ENDED); word = QUIET };
                 is_ready = true  // it may have been told before the call
#endif
              :: else -> is_ready = false; was_ended = false
              fi
           fi;
        :: else -> is_ready = false
        fi;
        if
        :: found -> break
        :: else
        fi;
#if BROKEN != 9
        if
        :: !is_ready && noted ->
           cancelled = true;
           break
        :: is_ready || !noted
        fi;
#endif
        if
        :: is_ready  // calls again
#if BROKEN == 4
        :: atomic { !is_ready -> word = WAITS };
#else
        :: atomic { !is_ready && word == QUIET -> word = WAITS };
#endif
           if
           :: atomic { posted -> posted = false; is_ready = true }
           :: atomic { runnable -> runnable = false; goes_on = true };
              break
           fi
#if BROKEN != 4
        :: !is_ready && word != QUIET
#endif
        fi
     od;
     if
     :: goes_on -> goes_on = false  // the stopper has ended it
     :: else ->
        // stopping/take_back, stopping/hand_over: finish_unposted().
        if
        :: atomic { slot == LEAF -> slot = NONE };
           goes_on = true
        :: else -> hand_over(goes_on)
        fi;
        if
        :: goes_on -> goes_on = false
        :: else -> atomic { runnable -> runnable = false }
        fi
     fi;
     assert(!posted && !runnable && word != WAITS);
     assert(!cancelled || slot == STOPPED);
     atomic {
       if
       :: slot == STOPPED -> stopping = false
       :: else
       fi;
       slot = NONE
     }
  od;
  assert(received == DATA);
  over = true
}

proctype port() {
  bool has_ended, took;
  byte seen, next;
  do
  :: atomic { edge -> edge = false; has_ended = fin };
     tell(has_ended, took);
     if
     :: took ->
        assert(!posted && !runnable);
        posted = true
     :: else
     fi
  :: over -> break
  od
}

proctype peer() {
  do
  :: unsent > 0 && (!patient || unsent > 1 || received == DATA - 1) -> atomic { unsent--; at_socket++; edge = true }
  :: unsent == 0 && stops_are_over && !stopping && (!patient || received == DATA) ->
     atomic { fin = true; edge = true };
     break
  od
}

// stopping/request, stopping/hand_over and on_stop.
inline stop_once() {
  atomic {
    taken = (slot == LEAF);
    if
    :: taken -> slot = STOPPED; stopping = true
    :: else
    fi
  };
  if
  :: taken ->
#if BROKEN != 6 && BROKEN != 7
     noted = true;
#endif
#if BROKEN == 8
     took = (word == WAITS);
     word = QUIET;
#else
     tell(false, took);
#endif
#if BROKEN == 6
     noted = true;
#endif
     if
     :: took ->
        cancelled = true;
        hand_over(second)
     :: else
     fi;
     hand_over(second);
     if
     :: second ->
        atomic {
          assert(!posted && !runnable);
          runnable = true
        }
     :: else
     fi
  :: else
  fi
}

proctype stopper() {
  bool taken, took, second;
  byte i, seen, next;
  for (i : 0 .. 1) {
    stop_once()
  }
  stops_are_over = true
}

init {
  atomic {
    if
    :: patient = true
    :: true
    fi;
    run task();
    run port();
    run peer();
    run stopper()
  }
}
