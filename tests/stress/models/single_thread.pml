// single_thread.pml: posts to a thread of its own, its sleep and its end; no wake-up and no job is lost.
// SPDX-License-Identifier: MIT
//
// single_thread_executor.cpp and job_inbox.hpp, own_thread of runtime/src/executors/README.md. Each poster spawns two tasks of one
// segment, unless it is refused; a closer closes and joins at any time. A task may also run and end on its poster's thread
// (it was joined there before it began): then its start job comes all the same, and finds nothing to do.
//
//   own_thread/post poster  one CAS: the item becomes the inbox's newest; over "asleep" the poster sets the signal, then wakes
//   own_thread/run thread  takes everything, runs it
//   own_thread/sleep thread  nothing: one CAS to "asleep", then it waits for the signal and clears it; it begins so
//   own_thread/count count   one word: tasks that were admitted, and "closed". Whoever makes it "closed, none" posts the last job
//   own_thread/last_job end     after the last job: nothing more is there, "asleep" for good, the end; join waits for that
//
// Inbox and count are words changed by read-modify-write operations only. The signal is stored by release and loaded by
// acquire, by at most one thread at a time each, and nothing is decided by the order of two words: no store buffers.
//
// Proved: every admitted task runs, once; none that was refused; the thread ends, once, with nothing left; nobody touches
// the object after the join; the signal is not set twice.
//
// BROKEN=1: own_thread/post the poster sets no signal: the thread sleeps for ever
// BROKEN=2: own_thread/post the poster sets the signal always: it may touch an object that is gone
// BROKEN=3: own_thread/sleep the thread stores "asleep" without a look: what came in between is run by nobody
// BROKEN=4: own_thread/sleep the thread clears the signal before it waits: the call is lost
// BROKEN=5: own_thread/count the last task's end posts no last job: the join hangs
// BROKEN=6: own_thread/count whoever closes posts the last job, tasks or not: they are left
// BROKEN=7: own_thread/count a task is admitted by a look and a count, not by one CAS: it comes after the end
// BROKEN=8: own_thread/last_job the thread runs the newest first: it ends, and start jobs are left

#ifndef BROKEN
#define BROKEN 0
#endif

#define POSTERS 2
#define EACH 2
#define TASKS (POSTERS * EACH)
#define ITEMS (TASKS + 1)

// What is in the inbox, oldest first.
#define RUNS 1   /* starts its task, which ends then */
#define IDLE 2   /* its task was started elsewhere */
#define LAST 3

bool asleep = true;
byte inbox[ITEMS], in_inbox;

byte count;  // own_thread/count
bool closed;
bit signal;

byte admitted, refused, ran, idle_posted, idle_ran;
bool thread_ended, gone;

#define TOUCH assert(!gone)

inline add(kind) {
  atomic {
    TOUCH;
    is_first = asleep;
    asleep = false;
    inbox[in_inbox] = kind;
    in_inbox++
  }
}

// own_thread/post; over "asleep" it calls.
inline push(kind) {
  add(kind);
  if
#if BROKEN == 2
  :: true ->
#else
  :: is_first ->
#endif
     is_first = false;
#if BROKEN == 2
     atomic { TOUCH; signal = 1 }
#elif BROKEN != 1
     atomic { TOUCH; assert(signal == 0); signal = 1 }
#endif
  :: else
  fi
}

// own_thread/count
inline count_out() {
  atomic { TOUCH; assert(count > 0); count--; is_last = (count == 0 && closed) }
}
inline end_task() {
  count_out();
  if
  :: is_last ->
     is_last = false;
#if BROKEN != 5
     push(LAST)
#endif
  :: else
  fi
}

proctype poster() {
  byte left = EACH;
  bool is_first, is_last, may;

  do
  :: left > 0 ->
     left--;
#if BROKEN == 7
     atomic { may = !gone && !closed };
     if
     :: may -> atomic { TOUCH; count++; admitted++ }
     :: else -> refused++
     fi;
#else
     atomic {
       // Whoever spawns at an object that is gone has been told by its owner not to.
       may = !gone && !closed;
       if
       :: may -> count++; admitted++
       :: else -> refused++
       fi
     };
#endif
     if
     :: may -> may = false; push(RUNS)
     :: may ->
        may = false;
        idle_posted++;
        push(IDLE);
        ran++;
        end_task()
     :: else
     fi
  :: else -> break
  od
}

proctype thread() {
  byte item, moved;
  bool is_first, is_last, stopping, slept;

  // own_thread/sleep: as which it begins.
  atomic { signal == 1 -> signal = 0 };
  do
  :: in_inbox > 0 ->  // own_thread/run: one by one here; nobody else takes any
     atomic {
       TOUCH;
       assert(!asleep);
#if BROKEN == 8
       in_inbox--;
       item = inbox[in_inbox];
       inbox[in_inbox] = 0
#else
       item = inbox[0];
       in_inbox--;
       do
       :: moved < in_inbox -> inbox[moved] = inbox[moved + 1]; moved++
       :: else -> inbox[moved] = 0; break
       od;
       moved = 0
#endif
     };
     if
     :: item == RUNS ->
        ran++;
        count_out();
        if
        :: is_last ->
           is_last = false;
#if BROKEN != 5
           add(LAST);
           assert(!is_first)  // it does not sleep: nobody has to call it
#endif
        :: else
        fi
     :: item == IDLE -> idle_ran++
     :: item == LAST -> stopping = true
     fi;
     item = 0
#if BROKEN == 8
     ;
     if
     :: stopping -> break
     :: else
     fi
#endif
  :: in_inbox == 0 ->
#if BROKEN == 3
     atomic { TOUCH; slept = true; asleep = true };
#else
     atomic {
       TOUCH;
       slept = (in_inbox == 0);
       if
       :: slept -> asleep = true
       :: else
       fi
     };
#endif
     if
     :: slept && stopping -> break  // own_thread/last_job
     :: slept && !stopping ->
        slept = false;
#if BROKEN == 4
        signal = 0;
        signal == 1
#else
        atomic { signal == 1 -> signal = 0 }
#endif
     :: !slept
     fi
  od;
  thread_ended = true
}

// close(), join(), and the end of the object.
proctype closer() {
  bool is_first, is_last;

#if BROKEN == 6
  atomic { closed = true; is_last = true };
#else
  atomic { closed = true; is_last = (count == 0) };
#endif
  if
  :: is_last -> push(LAST)
  :: else
  fi;
  atomic { thread_ended -> gone = true }
}

init {
  byte i;

  atomic {
    for (i : 1 .. POSTERS) { run poster() }
    run thread();
    run closer()
  };
  (_nr_pr == 1);
  assert(gone && count == 0 && in_inbox == 0);
  assert(ran == admitted && idle_ran == idle_posted && admitted + refused == TASKS)
}
