; The part of the runtime that has to be native: a thread pool, and `replay`, which runs a whole
; launch list in one call.
;
; It is compiled like a kernel, so it may not refer to symbols from elsewhere: the functions of the
; system's thread library are reached through pointers in the pool. "pause" is the x86-64 spelling of
; the hint that a loop waits; other processors' is put in its place before compiling.
;
; A job is one launch: units [0, n) that threads claim in grains from one counter. There is one job
; at a time; a caller who finds the pool busy runs its launch alone. Workers take part by choice: a
; worker that wakes late finds the job closed, and nobody waits for it.
;
; `control` holds, from the lowest bit, the number of workers inside the job (16 bits), whether more
; may enter (1 bit), and the number of the job. Entering is one compare-exchange, so it cannot
; mistake one job for another, and the job's fields are written only while nobody is inside and the
; door is closed.
;
; Two pairs of flags close the races around sleeping; each side writes its own and then reads the
; other's, in one order for all (seq_cst): the caller opens the job, then looks for sleepers; a
; worker counts itself a sleeper, then looks for an open job. The last worker to leave lowers the
; count, then looks for a waiting caller; the caller says that it waits, then looks at the count.

%Pool = type {
  i64,        ;  0 control
  [56 x i8],  ;    (a cache line of its own)
  i64,        ;  2 next: the first unit that nobody has claimed
  [56 x i8],
  i32,        ;  4 threads: how many may work, with the caller
  i32,        ;  5 busy: 1 while a caller owns the pool
  i32,        ;  6 status: the first non-zero status of the job
  i32,        ;  7 created: how many workers there are
  i32,        ;  8 sleepers: workers that sleep or are about to
  i32,        ;  9 waiting: 1 while the caller sleeps until all have left
  i64,        ; 10 spins: how often to look before sleeping
  ptr,        ; 11 kernel: the job's code,
  ptr,        ; 12 arguments: its argument table,
  i64,        ; 13 units: how many units it has,
  i64,        ; 14 grain: and how many are claimed at a time
  ptr,        ; 15 pthread_create
  ptr,        ; 16 pthread_sigmask
  ptr,        ; 17 pthread_mutex_lock
  ptr,        ; 18 pthread_mutex_unlock
  ptr,        ; 19 pthread_cond_wait
  ptr,        ; 20 pthread_cond_signal
  ptr,        ; 21 pthread_cond_broadcast
  ptr,        ; 22 mutex
  ptr,        ; 23 opened: the condition that workers sleep on
  ptr,        ; 24 left: the condition that the caller sleeps on
  ptr,        ; 25 signals: what workers leave to other threads
  i64,        ; 26 SIG_BLOCK
  ptr,        ; 27 sched_getcpu, or null where there is no steering
  ptr,        ; 28 pthread_setaffinity_np
  i32,        ; 29 avoided: the processor that workers were told to keep off, or -1
  i32,        ;    (padding)
  [16 x i64], ; 31 handles: the threads of the first workers
  [128 x i8], ; 32 allowed: the processors of the process, a bit each
  [128 x i8]  ; 33 others: these without the avoided one
}

define internal void @lock(ptr %pool) nounwind {
  %function.at = getelementptr %Pool, ptr %pool, i32 0, i32 17
  %function = load ptr, ptr %function.at
  %mutex.at = getelementptr %Pool, ptr %pool, i32 0, i32 22
  %mutex = load ptr, ptr %mutex.at
  call i32 %function(ptr %mutex)
  ret void
}

define internal void @unlock(ptr %pool) nounwind {
  %function.at = getelementptr %Pool, ptr %pool, i32 0, i32 18
  %function = load ptr, ptr %function.at
  %mutex.at = getelementptr %Pool, ptr %pool, i32 0, i32 22
  %mutex = load ptr, ptr %mutex.at
  call i32 %function(ptr %mutex)
  ret void
}

; Sleeps on a condition; the lock is held before and after.
define internal void @wait(ptr %pool, ptr %condition.at) nounwind {
  %function.at = getelementptr %Pool, ptr %pool, i32 0, i32 19
  %function = load ptr, ptr %function.at
  %condition = load ptr, ptr %condition.at
  %mutex.at = getelementptr %Pool, ptr %pool, i32 0, i32 22
  %mutex = load ptr, ptr %mutex.at
  call i32 %function(ptr %condition, ptr %mutex)
  ret void
}

; Whether a control word is that of an open job other than job %seen.
define internal i1 @is_news(i64 %control, i64 %seen) nounwind alwaysinline {
  %bit = and i64 %control, 65536
  %open = icmp ne i64 %bit, 0
  %job = lshr i64 %control, 17
  %other = icmp ne i64 %job, %seen
  %news = and i1 %open, %other
  ret i1 %news
}

; Claims grains and runs them until there are none.
define internal void @work(ptr %pool) nounwind {
entry:
  %next.at = getelementptr %Pool, ptr %pool, i32 0, i32 2
  %status.at = getelementptr %Pool, ptr %pool, i32 0, i32 6
  %kernel.at = getelementptr %Pool, ptr %pool, i32 0, i32 11
  %arguments.at = getelementptr %Pool, ptr %pool, i32 0, i32 12
  %units.at = getelementptr %Pool, ptr %pool, i32 0, i32 13
  %grain.at = getelementptr %Pool, ptr %pool, i32 0, i32 14
  %kernel = load ptr, ptr %kernel.at
  %arguments = load ptr, ptr %arguments.at
  %units = load i64, ptr %units.at
  %grain = load i64, ptr %grain.at
  br label %claim
claim:
  %begin = atomicrmw add ptr %next.at, i64 %grain monotonic
  %some = icmp slt i64 %begin, %units
  br i1 %some, label %run, label %done
run:
  %rest = sub i64 %units, %begin
  %short = icmp slt i64 %rest, %grain
  %count = select i1 %short, i64 %rest, i64 %grain
  %end = add i64 %begin, %count
  %status = call i32 %kernel(ptr %arguments, i64 %begin, i64 %end)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %claim, label %fail
fail:
  %first = cmpxchg ptr %status.at, i32 0, i32 %status monotonic monotonic
  store atomic i64 %units, ptr %next.at monotonic, align 8
  br label %done
done:
  ret void
}

; A worker's life: look for a job for a while, sleep until there is one, enter, work, leave.
define internal ptr @worker(ptr %pool) nounwind {
entry:
  %threads.at = getelementptr %Pool, ptr %pool, i32 0, i32 4
  %sleepers.at = getelementptr %Pool, ptr %pool, i32 0, i32 8
  %waiting.at = getelementptr %Pool, ptr %pool, i32 0, i32 9
  %spins.at = getelementptr %Pool, ptr %pool, i32 0, i32 10
  %mask.at = getelementptr %Pool, ptr %pool, i32 0, i32 16
  %signal.at = getelementptr %Pool, ptr %pool, i32 0, i32 20
  %opened.at = getelementptr %Pool, ptr %pool, i32 0, i32 23
  %left.at = getelementptr %Pool, ptr %pool, i32 0, i32 24
  %signals.at = getelementptr %Pool, ptr %pool, i32 0, i32 25
  %block.at = getelementptr %Pool, ptr %pool, i32 0, i32 26
  %mask = load ptr, ptr %mask.at
  %signals = load ptr, ptr %signals.at
  %block.word = load i64, ptr %block.at
  %block = trunc i64 %block.word to i32
  call i32 %mask(i32 %block, ptr %signals, ptr null)
  br label %idle

idle:
  %seen = phi i64 [ -1, %entry ], [ %job, %enter ], [ %job, %inside.job ], [ %job, %leave ], [ %job, %notify ]
  %spins = load i64, ptr %spins.at
  br label %look
look:
  %looks = phi i64 [ 0, %idle ], [ %looks.next, %pause ]
  %seen.control = load atomic i64, ptr %pool acquire, align 8
  %found = call i1 @is_news(i64 %seen.control, i64 %seen)
  br i1 %found, label %enter, label %again
again:
  %looks.next = add i64 %looks, 1
  %tired = icmp ugt i64 %looks.next, %spins
  br i1 %tired, label %sleep, label %pause
pause:
  call void asm sideeffect "pause", "~{memory}"()
  br label %look

sleep:
  call void @lock(ptr %pool)
  %sleepers.add = atomicrmw add ptr %sleepers.at, i32 1 seq_cst
  br label %check
check:
  %woken.control = load atomic i64, ptr %pool seq_cst, align 8
  %woken = call i1 @is_news(i64 %woken.control, i64 %seen)
  br i1 %woken, label %awake, label %doze
doze:
  call void @wait(ptr %pool, ptr %opened.at)
  br label %check
awake:
  %sleepers.sub = atomicrmw sub ptr %sleepers.at, i32 1 seq_cst
  call void @unlock(ptr %pool)
  br label %enter

enter:
  %control = phi i64 [ %seen.control, %look ], [ %woken.control, %awake ], [ %changed, %missed ]
  %job = lshr i64 %control, 17
  %inside = and i64 %control, 65535
  %threads = load atomic i32, ptr %threads.at monotonic, align 4
  %threads.wide = sext i32 %threads to i64
  %others = sub i64 %threads.wide, 1
  %room = icmp slt i64 %inside, %others
  br i1 %room, label %try, label %idle
try:
  %entered.control = add i64 %control, 1
  %exchange = cmpxchg ptr %pool, i64 %control, i64 %entered.control acquire acquire
  %changed = extractvalue { i64, i1 } %exchange, 0
  %entered = extractvalue { i64, i1 } %exchange, 1
  br i1 %entered, label %inside.job, label %missed
missed:
  %still = call i1 @is_news(i64 %changed, i64 %seen)
  br i1 %still, label %enter, label %sleep

inside.job:
  call void @work(ptr %pool)
  %before = atomicrmw sub ptr %pool, i64 1 seq_cst
  %low = and i64 %before, 131071
  %last = icmp eq i64 %low, 1
  br i1 %last, label %leave, label %idle
leave:
  %waiting = load atomic i32, ptr %waiting.at seq_cst, align 4
  %awaited = icmp ne i32 %waiting, 0
  br i1 %awaited, label %notify, label %idle
notify:
  call void @lock(ptr %pool)
  %signal = load ptr, ptr %signal.at
  %left = load ptr, ptr %left.at
  call i32 %signal(ptr %left)
  call void @unlock(ptr %pool)
  br label %idle
}

; Starts workers until there are %wanted, or the system gives no more. The pool is owned.
define internal void @grow(ptr %pool, i32 %wanted) nounwind {
entry:
  %handle = alloca i64, align 16
  %created.at = getelementptr %Pool, ptr %pool, i32 0, i32 7
  %create.at = getelementptr %Pool, ptr %pool, i32 0, i32 15
  br label %check
check:
  %created = load i32, ptr %created.at
  %enough = icmp sge i32 %created, %wanted
  br i1 %enough, label %done, label %start
start:
  %create = load ptr, ptr %create.at
  %failure = call i32 %create(ptr %handle, ptr null, ptr @worker, ptr %pool)
  %failed = icmp ne i32 %failure, 0
  br i1 %failed, label %done, label %count
count:
  %more = add i32 %created, 1
  store i32 %more, ptr %created.at
  %kept = icmp slt i32 %created, 16
  br i1 %kept, label %keep, label %check
keep:
  %slot = getelementptr %Pool, ptr %pool, i32 0, i32 31, i32 %created
  %thread = load i64, ptr %handle
  store i64 %thread, ptr %slot
  %avoided.at = getelementptr %Pool, ptr %pool, i32 0, i32 29
  store i32 -1, ptr %avoided.at
  br label %check
done:
  ret void
}

; Tells workers to keep off the caller's processor. A scheduler may else put a woken worker behind
; its caller, who will not sleep until the job is done, and leave another processor idle for some
; milliseconds. Few workers only: with many processors there is room without it.
define internal void @steer(ptr %pool) nounwind {
entry:
  %created.at = getelementptr %Pool, ptr %pool, i32 0, i32 7
  %getcpu.at = getelementptr %Pool, ptr %pool, i32 0, i32 27
  %set.at = getelementptr %Pool, ptr %pool, i32 0, i32 28
  %avoided.at = getelementptr %Pool, ptr %pool, i32 0, i32 29
  %allowed = getelementptr %Pool, ptr %pool, i32 0, i32 32
  %others = getelementptr %Pool, ptr %pool, i32 0, i32 33
  %created = load i32, ptr %created.at
  %getcpu = load ptr, ptr %getcpu.at
  %absent = icmp eq ptr %getcpu, null
  %many = icmp sgt i32 %created, 16
  %skip = or i1 %absent, %many
  br i1 %skip, label %done, label %ask
ask:
  %cpu = call i32 %getcpu()
  %avoided = load i32, ptr %avoided.at
  %same = icmp eq i32 %cpu, %avoided
  %beyond = icmp uge i32 %cpu, 1024
  %settled = or i1 %same, %beyond
  br i1 %settled, label %done, label %mask
mask:
  %bits = load [128 x i8], ptr %allowed
  store [128 x i8] %bits, ptr %others
  %byte = lshr i32 %cpu, 3
  %bit = and i32 %cpu, 7
  %byte.at = getelementptr i8, ptr %others, i32 %byte
  %old = load i8, ptr %byte.at
  %bit.byte = trunc i32 %bit to i8
  %one = shl i8 1, %bit.byte
  %rest = xor i8 %one, -1
  %new = and i8 %old, %rest
  store i8 %new, ptr %byte.at
  store i32 %cpu, ptr %avoided.at
  %set = load ptr, ptr %set.at
  br label %each
each:
  %i = phi i32 [ 0, %mask ], [ %i.next, %tell ]
  %more = icmp slt i32 %i, %created
  br i1 %more, label %tell, label %done
tell:
  %slot = getelementptr %Pool, ptr %pool, i32 0, i32 31, i32 %i
  %thread = load i64, ptr %slot
  call i32 %set(i64 %thread, i64 128, ptr %others)
  %i.next = add i32 %i, 1
  br label %each
done:
  ret void
}

; Wakes sleepers for an open job: all, or as many as can find work.
define internal void @wake(ptr %pool, i32 %wanted, i32 %threads) nounwind {
entry:
  %sleepers.at = getelementptr %Pool, ptr %pool, i32 0, i32 8
  %sleepers = load atomic i32, ptr %sleepers.at seq_cst, align 4
  %none = icmp eq i32 %sleepers, 0
  br i1 %none, label %done, label %some
some:
  %opened.at = getelementptr %Pool, ptr %pool, i32 0, i32 23
  %opened = load ptr, ptr %opened.at
  call void @steer(ptr %pool)
  call void @lock(ptr %pool)
  %with.caller = add i32 %wanted, 1
  %all = icmp sge i32 %with.caller, %threads
  br i1 %all, label %broadcast, label %each
broadcast:
  %broadcast.at = getelementptr %Pool, ptr %pool, i32 0, i32 21
  %broadcast.function = load ptr, ptr %broadcast.at
  call i32 %broadcast.function(ptr %opened)
  br label %free
each:
  %signal.at = getelementptr %Pool, ptr %pool, i32 0, i32 20
  %signal = load ptr, ptr %signal.at
  br label %one
one:
  %count = phi i32 [ %wanted, %each ], [ %fewer, %one ]
  call i32 %signal(ptr %opened)
  %fewer = sub i32 %count, 1
  %more = icmp sgt i32 %fewer, 0
  br i1 %more, label %one, label %free
free:
  call void @unlock(ptr %pool)
  br label %done
done:
  ret void
}

; Waits until no worker is inside the closed job.
define internal void @drain(ptr %pool) nounwind {
entry:
  %waiting.at = getelementptr %Pool, ptr %pool, i32 0, i32 9
  %spins.at = getelementptr %Pool, ptr %pool, i32 0, i32 10
  %left.at = getelementptr %Pool, ptr %pool, i32 0, i32 24
  %spins = load i64, ptr %spins.at
  br label %look
look:
  %looks = phi i64 [ 0, %entry ], [ %looks.next, %pause ]
  %control = load atomic i64, ptr %pool acquire, align 8
  %inside = and i64 %control, 65535
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %done, label %again
again:
  %looks.next = add i64 %looks, 1
  %tired = icmp ugt i64 %looks.next, %spins
  br i1 %tired, label %sleep, label %pause
pause:
  call void asm sideeffect "pause", "~{memory}"()
  br label %look
sleep:
  call void @lock(ptr %pool)
  store atomic i32 1, ptr %waiting.at seq_cst, align 4
  br label %check
check:
  %control.now = load atomic i64, ptr %pool seq_cst, align 8
  %inside.now = and i64 %control.now, 65535
  %empty.now = icmp eq i64 %inside.now, 0
  br i1 %empty.now, label %awake, label %doze
doze:
  call void @wait(ptr %pool, ptr %left.at)
  br label %check
awake:
  store atomic i32 0, ptr %waiting.at seq_cst, align 4
  call void @unlock(ptr %pool)
  br label %done
done:
  ret void
}

; Runs a launch on as many threads as may work and find a grain to run; returns its status.
define internal i32 @launch(ptr %pool, ptr %kernel, ptr %arguments, i64 %units, i64 %grain) nounwind {
entry:
  %threads.at = getelementptr %Pool, ptr %pool, i32 0, i32 4
  %busy.at = getelementptr %Pool, ptr %pool, i32 0, i32 5
  %threads = load atomic i32, ptr %threads.at monotonic, align 4
  %one.thread = icmp slt i32 %threads, 2
  %one.grain = icmp sle i64 %units, %grain
  %alone = or i1 %one.thread, %one.grain
  br i1 %alone, label %serial, label %own
serial:
  %serial.status = call i32 %kernel(ptr %arguments, i64 0, i64 %units)
  ret i32 %serial.status

own:
  %exchange = cmpxchg ptr %busy.at, i32 0, i32 1 acquire monotonic
  %owned = extractvalue { i32, i1 } %exchange, 1
  br i1 %owned, label %parallel, label %serial

parallel:
  %before.last = add i64 %units, -1
  %other.grains = udiv i64 %before.last, %grain
  %other.threads = sub i32 %threads, 1
  %other.threads.wide = zext i32 %other.threads to i64
  %few = icmp slt i64 %other.grains, %other.threads.wide
  %helpers.wide = select i1 %few, i64 %other.grains, i64 %other.threads.wide
  %helpers = trunc i64 %helpers.wide to i32
  call void @grow(ptr %pool, i32 %helpers)

  %next.at = getelementptr %Pool, ptr %pool, i32 0, i32 2
  %status.at = getelementptr %Pool, ptr %pool, i32 0, i32 6
  %kernel.at = getelementptr %Pool, ptr %pool, i32 0, i32 11
  %arguments.at = getelementptr %Pool, ptr %pool, i32 0, i32 12
  %units.at = getelementptr %Pool, ptr %pool, i32 0, i32 13
  %grain.at = getelementptr %Pool, ptr %pool, i32 0, i32 14
  store i64 0, ptr %next.at
  store i32 0, ptr %status.at
  store ptr %kernel, ptr %kernel.at
  store ptr %arguments, ptr %arguments.at
  store i64 %units, ptr %units.at
  store i64 %grain, ptr %grain.at

  %closed = load atomic i64, ptr %pool monotonic, align 8
  %job = lshr i64 %closed, 17
  %job.next = add i64 %job, 1
  %job.field = shl i64 %job.next, 17
  %open = or i64 %job.field, 65536
  store atomic i64 %open, ptr %pool seq_cst, align 8
  call void @wake(ptr %pool, i32 %helpers, i32 %threads)
  call void @work(ptr %pool)
  %close = atomicrmw and ptr %pool, i64 -65537 seq_cst
  call void @drain(ptr %pool)
  %status = load atomic i32, ptr %status.at monotonic, align 4
  store atomic i32 0, ptr %busy.at release, align 4
  ret i32 %status
}

; Runs a launch list: words of 64 bits,
;   pool, number of launches, words of the longest argument table,
;   then each launch: kernel, units, grain, number of arguments,
;                     and each argument: slot, offset.
; An argument's word is bases[slot] + offset; bases[0] is zero, for plain numbers. Returns 0, or
; the number of the launch that failed, shifted left by 32, with its status in the lower half.
define i64 @replay(ptr noalias readonly %list, ptr noalias readonly %bases) nounwind {
entry:
  %pool = load ptr, ptr %list
  %count.at = getelementptr i64, ptr %list, i64 1
  %count = load i64, ptr %count.at
  %longest.at = getelementptr i64, ptr %list, i64 2
  %longest = load i64, ptr %longest.at
  %table = alloca i64, i64 %longest, align 16
  %first = getelementptr i64, ptr %list, i64 3
  br label %check

check:
  %number = phi i64 [ 0, %entry ], [ %number.next, %after ]
  %at = phi ptr [ %first, %entry ], [ %argument.end, %after ]
  %more = icmp slt i64 %number, %count
  br i1 %more, label %read, label %success

read:
  %kernel = load ptr, ptr %at
  %units.at = getelementptr i64, ptr %at, i64 1
  %units = load i64, ptr %units.at
  %grain.at = getelementptr i64, ptr %at, i64 2
  %grain = load i64, ptr %grain.at
  %arguments.at = getelementptr i64, ptr %at, i64 3
  %arguments = load i64, ptr %arguments.at
  %argument.first = getelementptr i64, ptr %at, i64 4
  %argument.words = shl i64 %arguments, 1
  %argument.end = getelementptr i64, ptr %argument.first, i64 %argument.words
  br label %argument

argument:
  %i = phi i64 [ 0, %read ], [ %i.next, %fill ]
  %some = icmp slt i64 %i, %arguments
  br i1 %some, label %fill, label %start
fill:
  %word = shl i64 %i, 1
  %slot.at = getelementptr i64, ptr %argument.first, i64 %word
  %slot = load i64, ptr %slot.at
  %offset.at = getelementptr i64, ptr %slot.at, i64 1
  %offset = load i64, ptr %offset.at
  %base.at = getelementptr i64, ptr %bases, i64 %slot
  %base = load i64, ptr %base.at
  %value = add i64 %base, %offset
  %entry.at = getelementptr i64, ptr %table, i64 %i
  store i64 %value, ptr %entry.at
  %i.next = add i64 %i, 1
  br label %argument

start:
  %status = call i32 @launch(ptr %pool, ptr %kernel, ptr %table, i64 %units, i64 %grain)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %after, label %failure
after:
  %number.next = add i64 %number, 1
  br label %check

failure:
  %number.high = shl i64 %number, 32
  %status.low = zext i32 %status to i64
  %report = or i64 %number.high, %status.low
  ret i64 %report
success:
  ret i64 0
}
