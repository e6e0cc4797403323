// selecting.pml: two selects, and whoever has something for a branch, ends it, or stops its task.
// SPDX-License-Identifier: MIT
//
// runtime/src/select (protocol selecting), with wait lists (waiting) and the leaf of a wait
// (stopping). First is a selector of two turns: it receives from X and from Y, and sleeps. Second
// is a select of one turn: it sends to X, or receives from there, so that it has to step over
// itself. Others send to X and to Y, where what nobody takes is kept; receive from X; look at who
// is the oldest there, and leave it; fire the timer; stop the first task. Six groups of them are
// run, each in all orders.
//
//   selecting/try, arm    lock; takes what is kept, or claims the oldest of the other side's list;
//                         else enters its own. Then finish
//   selecting/turn        the word is as the last turn has left it; with a mark beside that: away
//   selecting/look        word open: claimable. Else set_aside, and a CAS that adds "noticed"
//   selecting/claim       CAS open -> ended by this branch; failed: as look, and round again
//   selecting/open        CAS to open from what the turn has found; failed: stop_came ends it;
//                         noticed: what was set aside is armed anew
//   selecting/stop        CAS open -> ended by the stop; else: adds stop_came
//   selecting/end         of the timer: claim; failed: has_ended; then its share
//   selecting/let_go      by the winner: the timer is taken out of its wheel, unless it is out
//   selecting/shares      whoever gives up the last one takes the leaf back, and resumes
//   selecting/go_on       the others leave their lists, under the locks; a selector's stay
//
// Proved: in a turn one branch gets something, the one that ended it, and no other; nothing that
// was sent is lost or doubled; who waits in the end has nothing to wait for any more: neither is
// something kept, nor does the other side wait, nor was it stopped; a task is resumed once for each
// wait; nobody touches a select that has gone, or its leaf outside of a wait; no select takes a
// branch of its own.
// Not proved, since it is not so: that two selects which arm at the same time, step by step
// together, come to an end. They leave word with each other until one of them is faster.
// All is decided by CASes on one word, and under locks, so there are no store buffers. The mark
// "set_aside" is relaxed, and ordered by the word's release and acquire. Nor is the order in a list
// modelled: a branch that is armed anew goes to the end here.
//
// BROKEN=1: selecting/claim writes the word whatever it says: two branches win
// BROKEN=2: selecting/claim is not looked at: something is handed to a branch of a select that is over
// BROKEN=3: selecting/claim that fails leaves the branch in its list, which it enters again: it is there when the select has gone
// BROKEN=4: selecting/claim does not leave word: the task opens beside something that was kept
// BROKEN=5: selecting/claim leaves word first and marks the place then: the task arms the wrong ones anew
// BROKEN=6: selecting/claim does not look again whether the word is open when it leaves word: what is noticed there nobody sees
// BROKEN=7: selecting/open is a store: what was noticed meanwhile is lost, or a stop
// BROKEN=8: selecting/stop leaves nothing where the task is away: it waits for ever
// BROKEN=9: selecting/own is not asked: a select leaves word with itself, and would arm without an end
// BROKEN=10: selecting/shares are not awaited: the timer comes to a select that has gone
// BROKEN=11: selecting/let_go is left out: the timer's share is not given up before its time
// BROKEN=12: selecting/go_on leaves the lists without their locks: whoever is inside still touches a select that has gone
// BROKEN=13: selecting/turn forgets what was noticed between the turns: it waits beside it
// BROKEN=14: selecting/take drops what was noticed while it armed: the next turn waits beside it
// BROKEN=15: selecting/stop writes the word though a branch has ended it: what that has got is lost

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef TURNS
#define TURNS 2
#endif

// The word.
#define AWAY 0
#define OPEN 1
#define NOTICED 2
#define STOP_CAME 4
#define ENDED_BY(p) ((p + 1) * 8)
#define WINNER(s) (word[s] / 8 - 1)

// Places: of the first select, of the second, and the plain wait.
#define A_X 0
#define A_Y 1
#define A_TIMER 2
#define B_SEND 3
#define B_X 4
#define PLAIN 5
#define STOP 6
#define NOBODY 7
#define SELECT_OF(p) (p > A_TIMER)

// Lists: who receives from X, who sends to it, who receives from Y; nobody sends to Y by a select.
#define IN_X 0
#define OUT_X 1
#define IN_Y 2
#define OUT_Y 3
#define SOURCE(l) (l / 2)
#define OTHER_SIDE(l) (l ^ 1)
#define LIST_OF(p) ((p == A_Y) * IN_Y + (p == B_SEND) * OUT_X)

#define NO_LEAF 0
#define LEAF 1
#define STOPPED 2

#if BROKEN == 3
chan list[4] = [6] of { byte };
#else
chan list[4] = [3] of { byte };
#endif
bool locked[2];
byte kept[2];
byte word[2];
bool gone[2];           // the select, with its places
bool aside[5];
byte moved[6];          // what the place has got, or given away, in this turn
byte slot[2];           // of the stop state
byte handed[2];
bool waits[2];          // from the publishing of the leaf until its task goes on
bool sleeps[2];         // its await has returned: it is suspended
bool resumed[2];
byte shares[2];
bool has_timer;         // else there is no such branch
bool is_out;            // the timer's share has been given
bool in_wheel;
bool is_due;
bool has_ended;
bool was_stopped;
byte sent;
byte got;

inline touch(p) { assert(p == PLAIN || !gone[SELECT_OF(p)]) }
inline acquire(l) { atomic { !locked[SOURCE(l)] -> locked[SOURCE(l)] = true } }
inline release(l) { locked[SOURCE(l)] = false }

inline resume(s) {
  atomic {
    assert(waits[s] && !resumed[s]);
    resumed[s] = true
  }
}
// stopping/hand_over
inline hand_over(s, last) {
  atomic {
    assert(waits[s]);
    handed[s]++;
    last = (handed[s] == 2)
  }
}
// stopping/take_back. last: the caller resumes
inline take_back(s, last) {
  atomic {
    assert(waits[s]);
    if
    :: slot[s] == LEAF -> slot[s] = NO_LEAF; last = true
    :: else -> handed[s]++; last = (handed[s] == 2)
    fi
  }
}

inline give_up(s, count, last) {
  atomic {
    assert(!gone[s] && waits[s] && shares[s] >= count);
    shares[s] = shares[s] - count;
    last = (shares[s] == 0)
  }
}
inline let_go_all(s) {
  if
  :: s == 0 && is_out ->
#if BROKEN != 11
     atomic {
       if
       :: in_wheel -> in_wheel = false; shares[s]--
       :: else
       fi
     }
#else
     skip
#endif
  :: else
  fi
}
// selecting/finish
inline finish(s, last) {
#if BROKEN == 10
  let_go_all(s);
  take_back(s, last);
#else
  let_go_all(s);
  give_up(s, 1, last);
  if
  :: last -> take_back(s, last)
  :: else
  fi;
#endif
}

// seen: what the word said
inline notice(p) {
#if BROKEN == 4
  seen = NOBODY;
#else
#if BROKEN != 5
  atomic { touch(p); aside[p] = true };
#endif
  atomic {
    touch(p);
#if BROKEN == 6
    word[SELECT_OF(p)] = word[SELECT_OF(p)] | NOTICED;
    seen = NOBODY;
#else
    if
    :: word[SELECT_OF(p)] == seen -> word[SELECT_OF(p)] = seen | NOTICED; seen = NOBODY
    :: else
    fi
#endif
  }
#if BROKEN == 5
  if
  :: seen == NOBODY -> atomic { touch(p); aside[p] = true }
  :: else
  fi;
#endif
#endif
}
// selecting/claim
inline claim(p, ok) {
  do
  :: atomic {
       touch(p);
       seen = word[SELECT_OF(p)];
#if BROKEN == 1
       ok = true;
#else
       ok = (seen == OPEN);
#endif
       if
       :: ok -> word[SELECT_OF(p)] = ENDED_BY(p)
       :: else
       fi
     }
     if
     :: ok -> break
     :: else
     fi;
     notice(p);
     if
     :: seen == NOBODY -> break
     :: else
     fi
  od
}
// selecting/look
inline look(p, ok) {
  do
  :: atomic {
       touch(p);
       seen = word[SELECT_OF(p)];
       ok = (seen == OPEN)
     }
     if
     :: ok -> break
     :: else
     fi;
     notice(p);
     if
     :: seen == NOBODY -> break
     :: else
     fi
  od
}
// The oldest of the first `left` in a list that could be claimed. Under the lock.
inline pop(l, found) {
  found = NOBODY;
  do
  :: left > 0 ->
     atomic { left--; list[l]?each };
     if
     :: each == PLAIN -> found = PLAIN; break
     :: else ->
        claim(each, ok);
        if
#if BROKEN == 2
        :: true -> found = each; break
#else
        :: ok -> found = each; break
        :: else ->
#if BROKEN == 3
           list[l]!each;
#endif
           skip
#endif
        fi
     fi
  :: else -> break
  od
}
// selecting/own. One of the select that arms p stands at the end of its list, and is not looked at.
#define OWN(p) (B_SEND + B_X - p)
inline step_over_own(l) {
  atomic {
    left = len(list[l]);
    own = (s == 1 && list[l]??[eval(OWN(p))]);
    if
    :: own ->
       list[l]??eval(OWN(p));
       list[l]!OWN(p);
#if BROKEN != 9
       left--
#endif
    :: else
    fi
  }
}
inline move_to(p) {
  atomic {
    assert(p == PLAIN || waits[SELECT_OF(p)]);
    moved[p]++
  }
}
inline finish_found() {
  if
  :: found < PLAIN ->
     finish(SELECT_OF(found), last);
     if
     :: last -> resume(SELECT_OF(found))
     :: else
     fi;
     last = false
  :: else
  fi
}
// What would only tell states apart.
#define FORGET left = 0; each = 0; seen = 0; ok = false; own = false

// What is there, or its other side, is taken; else, if `enters`, it queues up. taken: p or NOBODY
inline take_or_enter(p) {
  acquire(LIST_OF(p));
  found = NOBODY;
  if
  :: p != B_SEND && kept[SOURCE(LIST_OF(p))] > 0 ->
     atomic { kept[SOURCE(LIST_OF(p))]--; taken = p }
  :: else ->
     step_over_own(OTHER_SIDE(LIST_OF(p)));
     pop(OTHER_SIDE(LIST_OF(p)), found);
     assert(!own || list[OTHER_SIDE(LIST_OF(p))]??[eval(OWN(p))]);
     if
     :: found != NOBODY -> move_to(found); atomic { taken = p; sent++ }
     :: else
     fi
  fi;
  atomic {
    if
    :: taken == p ->
#if BROKEN != 3
       assert(!list[LIST_OF(p)]??[eval(p)]);  // whoever left that there passed by the list
#endif
       moved[p]++
    :: taken != p && enters ->
       if
#if BROKEN == 3
       :: len(list[LIST_OF(p)]) < 5 -> list[LIST_OF(p)]!p
#else
       :: !list[LIST_OF(p)]??[eval(p)] -> list[LIST_OF(p)]!p
#endif
       :: else
       fi
    :: else
    fi;
    FORGET;
    release(LIST_OF(p))
  }
  finish_found();
  found = NOBODY
}

// selecting/later: arms the timer.
inline arm_timer() {
  atomic { shares[0]++; is_out = true; has_ended = false };
  atomic {  // under the lock of its wheel
    if
    :: is_due -> taken = A_TIMER; moved[A_TIMER]++
    :: else -> in_wheel = true
    fi
  }
  if
  :: taken == A_TIMER -> atomic { is_out = false; shares[0]-- }
  :: else
  fi
}

#define FIRST_PLACE (s * B_SEND)
#define LAST_PLACE (A_TIMER + s * 2)

// selecting/set_aside
inline see_set_aside() {
  p = FIRST_PLACE;
  do
  :: p <= LAST_PLACE ->
     if
     :: armed[p] && aside[p] ->
        if
        :: p == A_TIMER -> has_ended; atomic { armed[p] = false; is_out = false }
        :: else -> again[p] = true
        fi
     :: else
     fi;
     p++
  :: else -> break
  od;
  ok = false
}
inline leave_list(p) {
#if BROKEN != 12
  acquire(LIST_OF(p));
#endif
  atomic {
    if
    :: list[LIST_OF(p)]??[eval(p)] -> list[LIST_OF(p)]??eval(p)
    :: else
    fi;
#if BROKEN != 12
    release(LIST_OF(p))
#endif
  }
}
// enters: selecting/arm, else selecting/try
inline ask_all() {
  p = FIRST_PLACE;
  do
  :: p <= LAST_PLACE && taken == NOBODY ->
     if
     :: !over[p] && (!armed[p] || again[p]) ->
        if
        :: enters -> atomic { armed[p] = true; again[p] = false; aside[p] = false }
        :: else
        fi;
        if
        :: p == A_TIMER && enters -> arm_timer()
        :: p == A_TIMER && !enters && is_due -> atomic { taken = p; moved[p]++ }
        :: p == A_TIMER && !enters && !is_due
        :: p != A_TIMER -> take_or_enter(p)
        fi
     :: else
     fi;
     p++
  :: else -> break
  od;
  if
  :: taken != NOBODY -> armed[taken] = false; again[taken] = false
  :: else
  fi
}
// selecting/take, and of a wait that was stopped before it began
inline close_by(p) {
#if BROKEN == 14
  word[s] = ENDED_BY(p)
#else
  word[s] = ENDED_BY(p) | (word[s] & NOTICED)
#endif
}
inline go_to_sleep() {
  sleeps[s] = true;
end_waits:
  atomic { resumed[s] -> resumed[s] = false; sleeps[s] = false }
}

proctype selects(byte s; byte turns) {
  bool armed[6], again[6], over[6];
  bool ok, own, last, enters;
  byte seen, left, each, p, winner, rests;
  byte found = NOBODY;
  byte taken = NOBODY;
  over[A_TIMER] = !has_timer;
  do
  :: turns > 0 ->
     atomic { turns--; taken = NOBODY; enters = false };
     rests = word[s];  // selecting/turn
     if
     :: rests & (NOTICED | STOP_CAME) ->
        atomic {
#if BROKEN != 13
          ok = (word[s] & NOTICED) != 0;
#endif
          rests = AWAY;
          word[s] = AWAY
        }
     :: else
     fi;
     do
     :: true ->
        if
        :: ok -> see_set_aside()
        :: else
        fi;
        ask_all();
        if
        :: taken != NOBODY && !enters -> winner = taken; break
        :: taken == NOBODY && !enters ->
           atomic {  // stopping/publish
             enters = (slot[s] != STOPPED);
             if
             :: enters -> slot[s] = LEAF; handed[s] = 0; shares[s] = 1; waits[s] = true
             :: else
             fi
           }
           if
           :: !enters -> close_by(STOP); winner = STOP; break
           :: else
           fi
        :: taken != NOBODY && enters ->
           close_by(taken);
           finish(s, last);
           break
        :: else ->
           atomic {  // selecting/open
#if BROKEN == 7
             seen = rests;
#else
             seen = word[s];
#endif
             if
             :: seen == rests -> word[s] = OPEN
             :: else
             fi
           }
           if
           :: seen == rests -> break
           :: seen != rests && (seen & STOP_CAME) ->
              close_by(STOP);
              let_go_all(s);
              give_up(s, 1, last);
              if
              :: last -> hand_over(s, last)  // the stopper has the leaf
              :: else
              fi;
              break
           :: else ->
              atomic { word[s] = word[s] & (255 - NOTICED); ok = true }
           fi
        fi
     od;
     if
     :: enters ->
        if
        :: !last -> go_to_sleep()
        :: else
        fi;
        atomic {
          waits[s] = false;
          last = false;
          winner = WINNER(s);
          assert(taken == NOBODY || winner == taken)
        }
     :: else
     fi;
     // selecting/go_on
     p = FIRST_PLACE;
     do
     :: p <= LAST_PLACE ->
        atomic {
          assert(moved[p] == (p == winner));
          got = got + (p == winner && p != A_TIMER && p != B_SEND);
          moved[p] = 0
        }
        if
        :: p == winner -> armed[p] = false; over[p] = (p == A_TIMER || over[p])
        :: p != winner && p == A_TIMER -> armed[p] = false
        :: p != winner && p != A_TIMER && armed[p] && (s == 1 || winner == STOP) ->
           armed[p] = false;
           leave_list(p)
        :: else
        fi;
        p++
     :: else -> break
     od;
     if
     :: s == 0 -> is_out = false
     :: else
     fi;
     if
     :: winner == STOP -> break
     :: else
     fi
  :: else -> break
  od;
  p = FIRST_PLACE;  // its destructor
  do
  :: p <= LAST_PLACE ->
     if
     :: p != A_TIMER && armed[p] -> leave_list(p)
     :: else
     fi;
     p++
  :: else -> break
  od;
  gone[s] = true
}

// Without a select: looks into list l for somebody who receives from there (IN_X, IN_Y), or sends.
proctype meets(byte l) {
  bool ok, own, last;
  byte seen, left, each;
  byte found = NOBODY;
  acquire(l);
  if
  :: l == OUT_X && kept[0] > 0 -> atomic { kept[0]--; moved[PLAIN]++ }
  :: else ->
     left = len(list[l]);
     pop(l, found);
     if
     :: found != NOBODY ->
        move_to(found);
        atomic { sent++; moved[PLAIN] = moved[PLAIN] + (l == OUT_X) }
     :: found == NOBODY && l == OUT_X -> list[IN_X]!PLAIN
     :: else -> atomic { kept[SOURCE(l)]++; sent++ }
     fi
  fi;
  atomic { FORGET; release(l) };
  finish_found();
  if
  :: l == OUT_X ->
end_waits:
     atomic { moved[PLAIN] > 0 -> got++; moved[PLAIN]-- }
  :: else
  fi
}

// Has not enough for the oldest, and leaves it there.
proctype looks(byte l) {
  bool ok;
  byte seen, each;
  acquire(l);
  if
  :: len(list[l]) > 0 ->
     list[l]?<each>;
     look(each, ok);
     if
     :: ok
     :: else -> list[l]?each
     fi
  :: else
  fi;
  release(l)
}

proctype fires() {
  bool ok, last;
  byte seen;
  if
  :: true
  :: true -> goto leaves  // not in this life
  fi;
end_out:
  atomic { in_wheel -> in_wheel = false; is_due = true };
  claim(A_TIMER, ok);
  if
  :: ok ->
     move_to(A_TIMER);  // there is no other branch that ends later, to let go
     give_up(0, 2, last)
  :: else ->
     atomic { touch(A_TIMER); has_ended = true };
#if BROKEN == 10
     touch(A_TIMER); last = false
#else
     give_up(0, 1, last)
#endif
  fi;
  if
  :: last ->
     take_back(0, last);
     if
     :: last -> resume(0)
     :: else
     fi
  :: else
  fi;
leaves:
  skip
}

proctype stops() {
  bool last, had_leaf, had_open;
  if
  :: true
  :: true -> goto leaves
  fi;
  atomic {  // stopping/request
    had_leaf = (slot[0] == LEAF);
    slot[0] = STOPPED;
    was_stopped = true
  }
  if
  :: had_leaf ->
     atomic {  // selecting/stop
       assert(!gone[0] && waits[0]);
#if BROKEN == 15
       had_open = (word[0] != AWAY);
#else
       had_open = (word[0] == OPEN);
#endif
       if
       :: had_open -> word[0] = ENDED_BY(STOP)
#if BROKEN != 8
       :: !had_open -> word[0] = word[0] | STOP_CAME
#endif
       :: else
       fi
     }
     if
     :: had_open ->
        let_go_all(0);
        give_up(0, 1, last);
        if
        :: last -> hand_over(0, last)
        :: else
        fi
     :: else
     fi;
     hand_over(0, last);
     if
     :: last -> resume(0)
     :: else
     fi
  :: else
  fi;
leaves:
  skip
}

init {
  atomic {
    // All at once would be too many states.
    if
    :: run selects(1, 1); run meets(IN_X); run meets(OUT_X)
    :: run selects(1, 1); run meets(IN_X); run stops()
    :: run selects(1, 1); run meets(IN_X); run looks(IN_X)
    :: run selects(1, 1); has_timer = true; run fires()
    :: has_timer = true; run fires(); run meets(IN_Y); run meets(IN_X)
    :: has_timer = true; run fires(); run meets(IN_Y); run stops()
    fi;
    run selects(0, TURNS)
  }
  timeout;
  // Who sleeps has nothing to wait for.
  assert(!sleeps[0] || (word[0] == OPEN && kept[0] == 0 && kept[1] == 0 && !was_stopped));
  assert(!sleeps[1] || (word[1] == OPEN && kept[0] == 0));
  assert(!sleeps[1] || !sleeps[0]);  // they could serve each other
  assert(!list[IN_X]??[PLAIN] || (kept[0] == 0 && !sleeps[1]));
  assert(sent == got + kept[0] + kept[1])
}
