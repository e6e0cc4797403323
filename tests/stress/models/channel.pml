// channel.pml: sends and receives of a channel without its lock, waits, stops and its end under it; nothing is lost.
// SPDX-License-Identifier: MIT
//
// channel_ring.hpp and channel_core.hpp, channels of runtime/src/sync/README.md. The first sender sends EACH values, others one,
// receivers receive until the channel has ended. The channel is closed at any time.
// It goes as soon as all receives have returned, and all sends that did not just put a value into a slot.
//
//   channels/claim   an end without flags moves on by one CAS; the slot's turn says first that it may
//   channels/fill    the value, then the turn: the last access of a send that did not wait
//   channels/drain   likewise
//   channels/hold    whoever has to wait sets the flag by a CAS from the very position that was empty, or full
//   channels/rotate  a receiver takes the oldest value, and puts the oldest waiting sender's into the same slot, behind all others
//   channels/let_go  the flag goes with the last waiter, or when an end is found flagged and nobody waits
//   channels/close   the tail is closed for claims, all waits end, and the unlock says that it is closed
//
// An end is one word: position and flags change in one step. What stands under the lock alone (lists, places) is changed in one
// step, too. There are no store buffers: each decision is made by a CAS on the word that it is about, or under the lock.
//
// Proved: every value that was sent is received once, in its sender's order, and no other is; what is ready overtakes nobody who
// waits; while somebody waits the ring stays empty, or full; whoever waits goes on; nobody touches the channel after it has gone.
//
// BROKEN=1: channels/hold a receiver sets the flag whatever has come since its look: it waits beside a value
// BROKEN=2: channels/claim the CAS of a send does not look at the flags: a value comes beside a waiting receiver, or after the end
// BROKEN=3: channels/close a receiver believes the flag of the tail: the channel goes while its closer holds the lock
// BROKEN=4: channels/fill a send that came by the lock fills before it unlocks: the channel goes under the lock
// BROKEN=5: channels/rotate the slot is free for a moment: a ready send overtakes the one that waits
// BROKEN=6: channels/let_go with the first waiter instead of the last: the next one waits beside values
// BROKEN=7: channels/fill the flag is looked at after the turn, as if it stood elsewhere: the channel has gone
// BROKEN=8: channels/hold a slot that is claimed and not yet filled counts as empty: a receiver waits beside its value
// BROKEN=9: channels/hold a sender sets the flag whatever has gone since its look: it waits beside a free slot
//
// ALSO -DSTOPS -DSENDERS=1 -DEACH=2 -DRECEIVERS=1: a sender or a receiver is stopped
// ALSO -DNO_CLOSE -DRECEIVERS=1: the receiver of the last value ends the channel, closed by nobody
// ALSO -DCAP=2 -DSENDERS=1 -DEACH=4 -DRECEIVERS=1: a ring of two
// ALSO -DSENDERS=1 -DEACH=2: laps, and two receivers

#ifndef BROKEN
#define BROKEN 0
#endif
#if BROKEN == 4
#define NO_CLOSE
#define RECEIVERS 1
#endif
#if BROKEN == 5
#define EACH 2
#define RECEIVERS 1
#endif
#ifdef NO_CLOSE
#define STOPS
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef EACH
#define EACH 1
#endif
#ifndef RECEIVERS
#define RECEIVERS 2
#endif
#define ALL (SENDERS * EACH)
#define LAST (me == 0 -> EACH : 1)
#define TASKS (SENDERS + RECEIVERS)

#define FREE(p) (2 * (p))
#define HOLDS(p) (2 * (p) + 1)

byte tail, head;
bool closed_tail, receivers_wait, senders_wait;
byte turn[CAP], value[CAP];

bool locked, closed;  // the word
chan senders = [SENDERS] of { byte };
chan receivers = [RECEIVERS] of { byte };

// Of each task, senders first.
bool waits[TASKS];    // its leaf is published
bool told[TASKS];  // before it was in the list
byte ended[TASKS];    // by whoever took it out: 1 normally, 2 stopped, 3 closed
byte held[TASKS];     // the value that it offers, or that it was brought
bool over[TASKS];     // it touches the channel no more

byte sent[ALL], received[ALL];
#ifdef NO_CLOSE
byte taken;
#endif
byte next_of[SENDERS];
bool gone;

#define TOUCH assert(!gone)
#define UNLOCK atomic { TOUCH; locked = false }
#ifdef STOPS
#define MUST_STOP (waits[me] && told[me])
#else
#define MUST_STOP false
#endif

inline lock() {
  atomic { !locked -> TOUCH; locked = true }
}
inline take_out(v) {
#ifdef NO_CLOSE
  taken++;
#endif
  received[v]++;
  assert(received[v] == 1 && sent[v] == 1);
  assert(next_of[(v) / EACH] <= (v) % EACH);
  next_of[(v) / EACH] = (v) % EACH + 1
}

proctype sender(byte me) {
  byte n, v, seen, old;
  bool no_room;

next:
  atomic {
    waits[me] = false;
    told[me] = false;
    ended[me] = 0;
    held[me] = 0;
    seen = 0;
    old = 0;
    if
    :: n == LAST -> goto done
    :: else -> v = me * EACH + n; n++
    fi
  };
fast:
  atomic {
    TOUCH;
    seen = tail;
    if
    :: closed_tail || receivers_wait -> goto look
    :: else
    fi
  };
  atomic { TOUCH; old = turn[seen % CAP] };
  if
  :: old == FREE(seen) ->
     atomic {
       TOUCH;
       if
#if BROKEN == 2
       :: tail == seen ->
#else
       :: tail == seen && !closed_tail && !receivers_wait ->
#endif
          assert(empty(senders) && empty(receivers));
          tail++;
          sent[v]++;
          goto fill
       :: else -> goto fast
       fi
     }
  :: else ->
     atomic {
       TOUCH;
       if
       :: seen >= head + CAP -> waits[me] = true
       :: else -> goto fast
       fi
     }
  fi;

look:
  atomic {
    !locked ->
    TOUCH;
    if
#ifdef STOPS
    :: MUST_STOP -> goto next
#endif
    :: !MUST_STOP && closed -> goto done
    :: else -> locked = true
    fi
  };
  if
  :: nempty(receivers) ->
     atomic {
       TOUCH;
       assert(head == tail);
       receivers ? old;
       sent[v]++;
       take_out(v);
       held[old] = v;
#if BROKEN == 6
       receivers_wait = false
#else
       receivers_wait = nempty(receivers)
#endif
     };
     atomic { TOUCH; locked = false; over[me] = (n == LAST && !waits[me]) };
     ended[old] = 1;
     goto next
  :: empty(receivers) ->
     atomic { TOUCH; receivers_wait = false }  // channels/let_go
  fi;
claim:
  atomic { TOUCH; seen = tail; old = turn[seen % CAP] };
  if
  :: old == FREE(seen) ->
     atomic {
       TOUCH;
       if
       :: tail == seen -> tail++; sent[v]++
       :: else -> goto claim
       fi
     };
#if BROKEN == 4
     atomic { TOUCH; value[seen % CAP] = v };
     atomic { TOUCH; turn[seen % CAP] = HOLDS(seen); over[me] = (n == LAST && !waits[me]) };
     UNLOCK;
     goto next
#else
     UNLOCK;
     goto fill
#endif
  :: else
  fi;
  atomic { TOUCH; old = head };
  atomic { TOUCH; no_room = senders_wait || tail == old + CAP };
  if
  :: !no_room -> UNLOCK; goto look  // channels/busy
  :: no_room ->
     atomic {  // channels/hold
       TOUCH;
       if
#if BROKEN == 9
       :: waits[me] ->
#else
       :: waits[me] && head == old ->
#endif
          senders_wait = true;
          held[me] = v;
          senders ! me;
          locked = false
       :: else -> locked = false; waits[me] = true; goto look
       fi
     }
  fi;
  ended[me] != 0;
  if
  :: ended[me] == 3 -> goto done
  :: else -> goto next
  fi;

fill:
  atomic { TOUCH; value[seen % CAP] = v };
  atomic { TOUCH; turn[seen % CAP] = HOLDS(seen); over[me] = (n == LAST && !waits[me]) };
#if BROKEN == 7
  atomic { TOUCH; no_room = receivers_wait };
#endif
  goto next;

done:
  atomic { waits[me] = false; over[me] = true }
}

proctype receiver(byte me) {
  byte v, seen, old;
  bool none;

next:
  atomic {
    waits[me] = false;
    told[me] = false;
    ended[me] = 0;
    held[me] = 0;
    seen = 0;
    old = 0;
    v = 0;
    none = false;
#ifdef NO_CLOSE
    if
    :: taken == SENDERS - 1 + EACH -> goto done
    :: else
    fi
#endif
  };
fast:
  atomic {
    TOUCH;
    seen = head;
    if
    :: senders_wait -> goto look
    :: else
    fi
  };
  atomic { TOUCH; old = turn[seen % CAP] };
  if
  :: old == HOLDS(seen) ->
     atomic {
       TOUCH;
       if
       :: head == seen && !senders_wait ->
          assert(empty(receivers));
          v = value[seen % CAP];
          take_out(v);
          head++;
          goto drain
       :: else -> goto fast
       fi
     }
  :: else ->
     atomic {
       TOUCH;
       if
       :: tail != seen -> goto fast
#if BROKEN == 3
       :: tail == seen && closed_tail -> goto done
#else
       :: tail == seen && closed_tail -> goto look
#endif
       :: tail == seen && !closed_tail -> waits[me] = true
       fi
     }
  fi;

look:
  atomic {
    !locked ->
    TOUCH;
    if
#ifdef STOPS
    :: MUST_STOP -> goto next
#endif
    :: else -> locked = true
    fi
  };
  if
  :: nempty(senders) ->  // channels/rotate
     atomic { TOUCH; seen = head; old = turn[seen % CAP]; assert(tail == head + CAP) };
     if
     :: old != HOLDS(seen) -> UNLOCK; goto look
     :: else
     fi;
     atomic { TOUCH; v = value[seen % CAP]; take_out(v) };
#if BROKEN == 5
     atomic { TOUCH; turn[seen % CAP] = FREE(seen + CAP) };
#endif
     atomic { TOUCH; senders ? <old>; value[seen % CAP] = held[old]; sent[held[old]]++ };
     atomic { TOUCH; tail++ };
     atomic { TOUCH; turn[seen % CAP] = HOLDS(seen + CAP) };
     atomic { TOUCH; head++ };
     atomic { TOUCH; senders ? old; senders_wait = nempty(senders) };
     UNLOCK;
     ended[old] = 1;
     goto next
  :: empty(senders) ->
     atomic { TOUCH; senders_wait = false }  // channels/let_go
  fi;
claim:
  atomic { TOUCH; seen = head; old = turn[seen % CAP] };
  if
  :: old == HOLDS(seen) ->
     atomic {
       TOUCH;
       if
       :: head == seen -> v = value[seen % CAP]; take_out(v); head++
       :: else -> goto claim
       fi
     };
     UNLOCK;
     goto drain
  :: else
  fi;
  atomic { TOUCH; old = tail };
#if BROKEN == 8
  none = true;
#else
  atomic { TOUCH; none = (head == old) };
#endif
  if
  :: !none -> UNLOCK; goto look  // channels/busy
  :: none && closed -> UNLOCK; goto done
  :: none && !closed ->
     atomic {  // channels/hold
       TOUCH;
       if
#if BROKEN == 1
       :: waits[me] ->
#else
       :: waits[me] && tail == old ->
#endif
          receivers_wait = true;
          receivers ! me;
          locked = false
       :: else -> locked = false; waits[me] = true; goto look
       fi
     }
  fi;
  ended[me] != 0;
  if
  :: ended[me] == 3 -> goto done
  :: else -> goto next
  fi;

drain:
  atomic { TOUCH; turn[seen % CAP] = FREE(seen + CAP); value[seen % CAP] = 0 };
  goto next;

done:
  atomic { waits[me] = false; over[me] = true }
}

#ifdef STOPS
// waiting/stop: under the lock, in one step.
proctype stopper(byte who) {
  if
  :: atomic { waits[who] && !locked ->
       TOUCH;
       if
       :: senders ?? [eval(who)] -> senders ?? eval(who); ended[who] = 2
       :: receivers ?? [eval(who)] -> receivers ?? eval(who); ended[who] = 2
       :: else -> told[who] = true
       fi
     }
  :: true
  fi
}
#endif

proctype closer() {
  byte one;
  bool ends[TASKS];

  lock();
  atomic { TOUCH; closed_tail = true };  // channels/close
  atomic {
    TOUCH;
    do
    :: senders ? one -> ends[one] = true
    :: receivers ? one -> ends[one] = true
    :: empty(senders) && empty(receivers) -> break
    od
  };
  atomic { TOUCH; locked = false; closed = true };
  atomic {
    for (one : 0 .. TASKS - 1) {
      if
      :: ends[one] -> ended[one] = 3
      :: else
      fi
    }
  }
}

init {
  byte i;

  atomic {
    for (i : 0 .. CAP - 1) { turn[i] = FREE(i) }
    for (i : 0 .. SENDERS - 1) { run sender(i) }
    for (i : SENDERS .. TASKS - 1) { run receiver(i) }
#ifdef NO_CLOSE
    run stopper(SENDERS);
#else
#ifdef STOPS
    if
    :: run stopper(0)
    :: run stopper(SENDERS)
    fi;
#endif
    run closer();
#endif
    i = 0
  };
  do
  :: i < TASKS -> over[i]; i++
  :: else -> break
  od;
  gone = true;
  (_nr_pr == 1);
  for (i : 0 .. ALL - 1) { assert(sent[i] == received[i]) }
}
