// strand.pml: posts to a strand, its turns, and the end of its memory; segments never overlap, none is lost.
// SPDX-License-Identifier: MIT
//
// strand.cpp and job_inbox.hpp, strand of runtime/src/executors/README.md. Each poster begins three tasks, each of which is one
// segment, posts them, and drops its handle. Two workers run the turns; a turn runs at most two segments.
//
//   strand/post poster  one CAS: the item becomes the inbox's newest; if the inbox was asleep the poster starts a turn
//   strand/begin_turn poster  a hold for the turn; then the turn is posted below
//   strand/take turn    its list is empty: take all that is in the inbox, oldest first; nothing: one CAS from empty to asleep
//   strand/sleep turn    asleep: give back its hold, touch nothing more. Its share is used up: post itself again
//   strand/hold memory  goes with the last hold: one for all handles, one for each task until it has ended, one for a turn
//
// The inbox is one word, changed by read-modify-write operations only, so there are no store buffers.
//
// Proved: segments never overlap; there is at most one turn; what one poster posts runs in its order; every task
// runs, once; nobody touches the memory after it has gone; at the end it has.
//
// BROKEN=1: strand/post the poster stores what it has made of the word it read before: an item is lost
// BROKEN=2: strand/post the poster starts a turn if the inbox is empty, not only if it is asleep: two turns
// BROKEN=3: strand/take the turn stores "asleep" without a look: what came in between is run by nobody
// BROKEN=4: strand/take the turn goes to sleep with items in its list: two turns, or nobody runs them
// BROKEN=5: strand/take the turn takes the newest first: out of order
// BROKEN=6: strand/hold a turn has no hold: its last task takes the memory with it
// BROKEN=7: strand/begin_turn the hold comes after the post: the turn gives back what nobody has taken yet
// BROKEN=8: strand/sleep the hold is given back before the inbox is asleep: the memory may be gone
// BROKEN=9: strand/sleep a turn whose share is used up posts itself and goes on: two turns
//
// ALSO -DPOSTERS=3 -DEACH=1: three posters at once

#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef POSTERS
#define POSTERS 2
#endif
#ifndef EACH
#define EACH 3
#endif
#define ITEMS (POSTERS * EACH)
#define WORKERS 2
#define SHARE 2

// The word, and the list that it stands for: oldest first here, whatever the links are.
bool asleep = true;
byte inbox[ITEMS], in_inbox;
// The turn's.
byte ready[ITEMS], in_ready;

byte posted;  // turns in the queue below
byte turns;   // that run
byte inside;  // segments that run
byte holds = 1, handles = POSTERS;
bool gone;

byte next_of[POSTERS];  // which of its items comes next
byte ran, posters_done;

#define TOUCH assert(!gone)

inline release() {
  atomic {
    assert(!gone && holds > 0);
    holds--;
    if
    :: holds == 0 -> gone = true
    :: else
    fi
  }
}

// An item is its poster's number; each poster's items are told apart by their order.
proctype poster(byte me) {
  byte left = EACH;
  bool is_first;
#if BROKEN == 1
  byte seen
#endif

  do
  :: left > 0 ->
     atomic { TOUCH; holds++ };  // strand/hold: the task
     // strand/post
#if BROKEN == 1
     atomic { TOUCH; is_first = asleep; seen = in_inbox };
     atomic { TOUCH; asleep = false; inbox[seen] = me * EACH + (EACH - left); in_inbox = seen + 1 };
#else
     atomic {
       TOUCH;
#if BROKEN == 2
       is_first = (in_inbox == 0);
#else
       is_first = asleep;
#endif
       asleep = false;
       inbox[in_inbox] = me * EACH + (EACH - left);
       in_inbox++
     };
#endif
     left--;
     if
     :: is_first ->  // strand/begin_turn
        is_first = false;
#if BROKEN == 7
        posted++;
        atomic { TOUCH; holds++ }
#else
#if BROKEN != 6
        atomic { TOUCH; holds++ };
#endif
        posted++
#endif
     :: else
     fi
  :: else -> break
  od;
  atomic {
    handles--;
    if
    :: handles == 0 -> is_first = true
    :: else
    fi
  };
  if
  :: is_first -> release()
  :: else
  fi;
  posters_done++
}

proctype worker() {
  byte here, item, moved;
  bool slept;

  do
  :: atomic { posted > 0 -> posted--; turns++; assert(turns == 1) };
     here = 0;
     do
     :: in_ready == 0 ->  // strand/take
        atomic {
          TOUCH;
          assert(!asleep);
          do
          :: in_inbox > 0 ->
#if BROKEN == 5
             in_inbox--;
             ready[in_ready] = inbox[in_inbox];
             inbox[in_inbox] = 0;
             in_ready++
#else
             ready[moved] = inbox[moved];
             inbox[moved] = 0;
             moved++;
             in_inbox--;
             in_ready++
#endif
          :: else -> break
          od;
          moved = 0
        };
        if
        :: in_ready > 0
        :: else ->
#if BROKEN == 8
           release();
#endif
#if BROKEN == 3
           atomic { TOUCH; slept = true; asleep = true; turns-- };
#else
           atomic {
             TOUCH;
             slept = (in_inbox == 0);
             if
             :: slept -> asleep = true; turns--
             :: else
             fi
           };
#endif
           if
           :: slept ->
              slept = false;
#if BROKEN != 6 && BROKEN != 8
              release();  // strand/sleep
#endif
              break
           :: else
           fi
        fi
     :: in_ready > 0 && here == SHARE ->
#if BROKEN == 4
        atomic { TOUCH; asleep = true; turns-- };
        release();
#elif BROKEN == 9
        posted++;
        here = 0;
        goto go_on;
#else
        atomic { turns--; posted++ };  // strand/sleep
#endif
        break
     :: in_ready > 0 && here < SHARE ->
        atomic {
          TOUCH;
          item = ready[0];
          in_ready--;
          // The list moves up.
          do
          :: moved < in_ready -> ready[moved] = ready[moved + 1]; moved++
          :: else -> ready[moved] = 0; break
          od;
          moved = 0
        };
        here++;
        atomic { inside++; assert(inside == 1) };
        atomic {
          assert(next_of[item / EACH] == item % EACH);
          next_of[item / EACH]++;
          inside--
        };
        item = 0;
        release();  // strand/hold: the task has ended
        ran++;
#if BROKEN == 9
go_on: skip
#endif
     od
  :: posters_done == POSTERS && ran == ITEMS && posted == 0 && turns == 0 -> break
  od
}

init {
  byte i;

  atomic {
    for (i : 0 .. POSTERS - 1) { run poster(i) }
    for (i : 0 .. WORKERS - 1) { run worker() }
  };
  (_nr_pr == 1);
  assert(gone && in_inbox == 0 && in_ready == 0)
}
