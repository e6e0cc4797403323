// receive_wait.pml: what a receiver passes from the completion thread to its task; no byte is lost, no wait hangs.
// SPDX-License-Identifier: MIT
//
// Protocol receiving of io, with stopping of runtime. A connection brings
// some buffers' worth and then ends; a silent one ends only after all stops have ended what they had to. The kernel delivers while it is armed and a buffer is free; it may also end a multishot
// with a delivery. The task receives until the end, or closes before; two stops come at any time, during a wait or
// between two. Each wait has an environment of its own.
//
//   receiving/arrive owner    counts, then puts the buffer in front of the chain
//   receiving/take task     its own chain, then the one that arrived, then the end
//   receiving/wait waiting  the task publishes its leaf, says that it looks, asks for more if nothing is armed, and looks once more; if
//               there is nothing a CAS makes it a waiting one; the owner puts what it has, then looks for a waiter:
//               whoever looks is told to look again, who waits is taken by a CAS, and the task goes on; the owner puts
//               it back if what it had put was taken before
//   receiving/end task     reads the end before the chain: what came before the end is in the chain by then
//   receiving/hold_back owner    at a limit it is disarmed; armed again by whoever sets idle from true to false; without a buffer it starves
//   receiving/close close    who is the last to hear of the receiver finishes it: the close itself, the last completion, or a request
//               to arm that was under way
//
// Proved: whoever waits goes on once, and not before it has done with the receiver; a wait ends as stopped only if its environment was; all that came is received before the
// end; nobody touches the receiver after its end; it ends when it was closed, and all buffers are back; nothing hangs.
//
// BROKEN=1: receiving/wait the task looks before it says that it waits: what comes in between is seen by nobody
// BROKEN=2: receiving/wait the owner looks for a waiter before it puts the buffer: as above
// BROKEN=3: receiving/end the end is read after the chain: what came between is lost
// BROKEN=4: receiving/hold_back who is disarmed while somebody waits does not arm again: nothing comes any more
// BROKEN=5: receiving/wait who waits does not arm what is idle: as above
// BROKEN=6: receiving/wait the mark of a stop is not wiped: it stops the next wait
// BROKEN=7: receiving/wait a stop takes the waiter without a CAS: owner and stopper go on with the task
// BROKEN=8: receiving/close the close does not wait for a request to arm: that touches what is gone
// BROKEN=9: receiving/close the close does not wait for the last completion: as above
// BROKEN=10: receiving/close the close of one that starves waits for a buffer, and its own queue has them all
// BROKEN=11: receiving/wait a stop that finds no waiter leaves no mark: the wait that begins then misses it
// BROKEN=12: receiving/wait the owner goes on with a waiter for whom there is nothing any more: that takes it for the end
// BROKEN=13: receiving/hold_back who puts a waiter back does not arm what has become idle: nothing comes any more
// BROKEN=14: receiving/wait it says at once that it waits: its task may go on, and close, while it looks
// BROKEN=15: receiving/wait the owner passes by whoever looks: that has looked before, and waits for ever

#ifndef BROKEN
#define BROKEN 0
#endif

#define DATA 3
#define BUFFERS 2
#define LIMIT 2

byte data = DATA;       // at the socket
byte free = BUFFERS;    // with the kernel
byte returned;          // leases that have ended
byte arrived, queued;   // receiving/arrive
byte ready;             // the task's own
byte received_count;
bool ended, idle = true;
bool armed, disarm_asked, holding_back, starving, closing, gone;  // owner
bool arm_posted, close_posted;

#define NOBODY 0
#define WAITS 1
#define MARK 2
#define LOOKS 3
#define NOTED 4
byte waiter;
bool inside;  // the task, in wait(), after it has been seen

// The leaf of the wait that is on.
#define NONE 0
#define LEAF 1
#define STOPPED 2
byte slot;
bool handed, cancelled;
bool runnable;
bool silent, stopping, stops_are_over;

inline go_on_with_task() {
  atomic {
    assert(!runnable && !inside);
    runnable = true
  }
}

// stopping/hand_over. @second: whether the other one was here before
inline hand_over(second) {
  atomic {
    second = handed;
    handed = true
  }
}

// stopping/take_back, stopping/hand_over: finish_unposted().
inline finish(goes_on) {
  if
  :: atomic { slot == LEAF -> slot = NONE };
     goes_on = true
  :: else -> hand_over(goes_on)
  fi
}

// receiving/hold_back, by the task.
inline ask_to_arm() {
  atomic {
    if
    :: idle ->
       assert(!arm_posted && !armed);
       idle = false;
       arm_posted = true
    :: else
    fi
  }
}

// receiving/take. Leaves `got`, or `over`.
inline take() {
  got = false;
  over = false;
  if
  :: ready == 0 ->
#if BROKEN == 3
     atomic { ready = arrived; arrived = 0 };
     over = ended && ready == 0
#else
     over = ended;  // receiving/end
     atomic { ready = arrived; arrived = 0 };
     over = over && ready == 0
#endif
  :: else
  fi;
  if
  :: ready > 0 ->
     got = true;
     ready--;
     atomic {
       asks = (queued <= LIMIT / 2);
       queued--
     }
     if
     :: asks -> ask_to_arm()
     :: else
     fi;
     asks = false
  :: else
  fi
}

proctype task() {
  bool got, over, asks, goes_on, is_ready;
  ask_to_arm();
  do
  :: true -> break  // closes, perhaps with something in the queue
  :: atomic { slot = NONE; handed = false; cancelled = false };
     take();
     if
     :: !got && !over ->
        if
        :: atomic { slot == NONE -> slot = LEAF };  // stopping/publish
#if BROKEN == 1
           is_ready = (arrived != 0 || ended);
#endif
           if
#if BROKEN == 14
           :: atomic { waiter == NOBODY -> waiter = WAITS; inside = true };
#else
           :: atomic { waiter == NOBODY -> waiter = LOOKS; inside = true };  // receiving/wait
#endif
              do
              :: true ->
#if BROKEN != 5
                 if
                 :: idle -> ask_to_arm()
                 :: else
                 fi;
#endif
#if BROKEN != 1
                 is_ready = (arrived != 0 || ended);
#endif
                 if
                 :: atomic { waiter == LOOKS && is_ready -> waiter = NOBODY; inside = false };
                    finish(goes_on);
                    break
                 :: atomic { waiter == LOOKS && !is_ready -> waiter = WAITS; inside = false };
                    break
#if BROKEN == 14
                 :: atomic { waiter == WAITS && is_ready -> waiter = NOBODY; inside = false };
                    finish(goes_on);
                    break
                 :: atomic { waiter == WAITS && !is_ready -> inside = false };
                    break
                 :: atomic { waiter == NOBODY -> inside = false };  // somebody has it
                    break
#endif
                 :: atomic { waiter == MARK -> inside = false };
                    cancelled = true;
                    assert(slot == STOPPED);
                    hand_over(goes_on);
                    break
                 :: atomic { waiter == NOTED -> waiter = LOOKS }
                 fi
              od
           :: else ->  // a stop came before us
              cancelled = true;
              assert(slot == STOPPED);
              hand_over(goes_on)
           fi;
           if
           :: goes_on -> goes_on = false
           :: else -> atomic { runnable -> runnable = false }
           fi;
#if BROKEN != 6
           atomic {
             if
             :: waiter == MARK -> waiter = NOBODY
             :: else
             fi
           }
#endif
           assert(!runnable && waiter != WAITS);
           if
           :: slot == STOPPED -> stopping = false
           :: else
           fi;
           assert(!cancelled || slot == STOPPED);
           if
           :: !cancelled ->
              take();
              assert(got || over || slot == STOPPED)
           :: else
           fi
        :: else  // it was stopped before
        fi
     :: else
     fi;
     if
     :: got ->
        received_count++;
        returned++
     :: else
     fi;
     if
     :: over ->
        assert(received_count == DATA);
        break
     :: else
     fi
  od;
  close_posted = true
}

// stopping/request, stopping/hand_over and on_stop.
inline stop_once() {
  atomic {
    taken = (slot == LEAF);
    stopping = taken;
    slot = STOPPED
  }
  if
  :: taken ->
     removed = false;
#if BROKEN == 7
     removed = (waiter == WAITS);
     waiter = NOBODY;
#else
     if
     :: atomic { waiter == WAITS -> waiter = NOBODY; removed = true }
     :: else ->
#if BROKEN != 11
        if  // not there yet, or gone already
        :: atomic { waiter != WAITS -> waiter = MARK }
        :: atomic { waiter == WAITS -> waiter = NOBODY; removed = true }
        fi
#else
        skip
#endif
     fi;
#endif
     if
     :: removed ->
        cancelled = true;
        hand_over(second)
     :: else
     fi;
     hand_over(second);
     if
     :: second -> go_on_with_task()
     :: else
     fi
  :: else
  fi
}

proctype stopper() {
  bool taken, removed, second;
  byte i;
  for (i : 0 .. 1) {
    stop_once()
  }
  stops_are_over = true
}

inline finish_close() {
  assert(!gone);
  gone = true;
  atomic {
    returned = returned + arrived + ready;
    arrived = 0;
    ready = 0
  }
}

inline arm() {
  assert(!gone);
  if
  :: closing -> finish_close()
  :: else ->
     holding_back = false;
     armed = true
  fi
}

inline wake_waiter() {
  if
#if BROKEN != 15
  :: atomic { waiter == LOOKS -> waiter = NOTED }
#endif
  :: atomic { waiter == WAITS -> waiter = NOBODY };
     if
     :: atomic { arrived == 0 && !ended && waiter == NOBODY && BROKEN != 12 -> waiter = WAITS };
#if BROKEN != 13
        ask_to_arm()
#endif
     :: else ->  // there is something, or a stop has left its mark
        finish(goes_on);
        if
        :: goes_on -> go_on_with_task()
        :: else
        fi;
        goes_on = false
     fi
  :: else
  fi
}

inline disarmed() {
  armed = false;
  disarm_asked = false
}

// A delivery, after which it is armed still or not; or the end, after which it is not.
inline put() {
  if
  :: data > 0 ->
     atomic {
       data--;
       free--;
       brings = true
     }
     if
     :: true
     :: disarmed()
     fi
  :: else -> disarmed()
  fi;
  if
  :: closing ->
     if
     :: brings -> returned++
     :: else
     fi;
     if
     :: !armed -> finish_close()
     :: else
     fi
  :: else ->
#if BROKEN == 2
     wake_waiter();
#endif
     if
     :: brings ->
        queued++;
        arrived++;  // receiving/arrive
        if
        :: queued >= LIMIT && armed && !holding_back ->  // receiving/hold_back
           holding_back = true;
           disarm_asked = true
        :: else
        fi;
        if
        :: !armed -> idle = true
        :: else
        fi
     :: else -> ended = true
     fi;
#if BROKEN != 2
     wake_waiter()
#endif
  fi;
  brings = false
}

proctype owner() {
  bool goes_on, brings;
  do
  :: arm_posted ->
     arm_posted = false;
     arm()
  :: close_posted && !closing ->
     closing = true;
     if
     :: armed ->
#if BROKEN == 9
        finish_close()
#else
        disarm_asked = true  // receiving/close: the last completion finishes it
#endif
     :: !armed && starving ->
        if
        :: BROKEN != 10 -> starving = false; finish_close()
        :: else
        fi
     :: !armed && !starving ->
        if
        :: ended || idle || BROKEN == 8 ->
           idle = false;
           finish_close()
        :: else  // a request to arm it is still to come
        fi
     fi
  :: armed && (data > 0 && free > 0 || data == 0 && (!silent || stops_are_over && !stopping)) ->
     assert(!gone);
     put()
  :: armed && data > 0 && free == 0 ->
     assert(!gone);
     disarmed();
     if
     :: closing -> finish_close()
     :: else -> starving = true
     fi
  :: armed && disarm_asked ->
     assert(!gone);
     disarmed();
     if
     :: closing -> finish_close()
     :: else ->
        idle = true;
#if BROKEN != 4
        if
        :: waiter != NOBODY && waiter != MARK -> ask_to_arm()
        :: else
        fi
#endif
     fi
  :: returned > 0 && !gone ->
     atomic {
       free = free + returned;
       returned = 0
     }
  :: starving && free > 0 ->
     starving = false;
     holding_back = false;
     armed = true
  :: gone && !arm_posted -> break
  od;
  assert(free + returned == BUFFERS)
}

init {
  atomic {
    if
    :: silent = true
    :: true
    fi;
    run task();
    run stopper();
    run owner()
  }
}
