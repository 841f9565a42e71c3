/* The threads of the OpenMP library that torch has loaded: no second group of threads waits for the same cores. */

#ifndef HEADWAY_THREADS_H
#define HEADWAY_THREADS_H

#include <stdatomic.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && (__GNUC__ >= 12 || __clang_major__ >= 18) /* earlier ones do not know these names */
#define FASTEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) /* AVX-512, AVX2: chosen when it is loaded */
#else
#define FASTEST
#endif

typedef struct {
  int me, threads; /* 0 ... threads - 1 */
} Share;

typedef struct {
  atomic_int arrived, phase;
} Barrier;

/* This thread's part of n things: from `first` up to `last`. */
static inline int64_t first(Share s, int64_t n) { return n * s.me / s.threads; }
static inline int64_t last(Share s, int64_t n) { return n * (s.me + 1) / s.threads; }

#pragma GCC visibility push(hidden)
Share share(void);                                              /* which of the threads this is */
void meet(Barrier *barrier, Share s);                           /* wait until all of them have come here */
void divide(void (*work)(void *), void *job, unsigned threads); /* `work` by so many threads, or by this one */
#pragma GCC visibility pop

#endif
