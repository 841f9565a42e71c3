/* The selective scan of Mamba and its gradients, for each row of a batch by one thread.

       h_t = exp(dt_t A) h_{t-1} + B_t v_t        y_t = C_t h_t        (n states for each of c channels; v carries dt already)

       G_t = C_t g_t + K_{t+1}        K_t = exp(dt_t A) G_t        the gradients of h_t and, through the factor, of h_{t-1}
       dC_t = sum_c g_t h_t    dB_t = sum_c v_t G_t    dv_t = sum_n B_t G_t    d(dt_t) = sum_n A K_t h_{t-1}    dA = sum_t dt_t K_t h_{t-1}

   Of the states only one in PIECE is kept; the others are computed again on the way back, for LANES channels at a time, which fit into the
   cache of a core. `selective_scan.py` calls it; without it torch does the same, operation by operation. */

#include <math.h>
#include <string.h>

#include "threads.h"

#define LANES 64 /* channels at a time */
#define PIECE 16 /* positions at a time */

typedef struct {
  int64_t rows, positions, states, channels;  /* b t n c */
  const float *dt, *v, *b, *c, *a;            /* "b t c", "b t c", "b t n", "b t n", "n c" */
  float *y, *kept;                            /* "b t c"; "b p n c": the state before each piece */
  const float *g;                             /* "b t c": the gradient of y, and those of the inputs: */
  float *of_dt, *of_v, *of_b, *of_c, *of_a;   /* as above, but of_a: "b n c", one for each row */
  float *room;                                /* for each thread: `scan_room` numbers */
} Scan;

/* exp(x) for x <= 0 with a relative error below 1.2e-7 (1 + |x|): 2^i e^f with a polynomial for e^f, |f| <= 0.35. In plain arithmetic, so
   that it is vectorised. Below 2^-126 it is 0. */
static inline float exponential(float x) {
  float z = x * 1.44269504f;
  z = z < -126.0f ? -126.0f : z;
  float i = nearbyintf(z), f = (z - i) * 0.693147181f;
  float p = 1 + f * (1 + f * (0.5f + f * (1 / 6.0f + f * (1 / 24.0f + f * (1 / 120.0f + f / 720.0f)))));
  union {
    int32_t bits;
    float value;
  } power = {.bits = ((int32_t)i + 127) << 23};
  return z <= -126.0f ? 0.0f : p * power.value;
}

/* One position for `lanes` channels: factors and new states from the old ones. */
static inline void advance(const Scan *s, const float *dt, const float *v, const float *b, const float *a, int64_t lanes, const float *h,
                           float *factor, float *state) {
  for (int64_t n = 0; n < s->states; n++)
    for (int64_t c = 0; c < lanes; c++) {
      float f = exponential(dt[c] * a[n * s->channels + c]);
      factor[n * LANES + c] = f;
      state[n * LANES + c] = f * h[n * LANES + c] + b[n] * v[c];
    }
}

FASTEST static void forward_share(void *given) {
  const Scan *s = given;
  Share me = share();
  int64_t T = s->positions, N = s->states, C = s->channels, pieces = (T + PIECE - 1) / PIECE, size = N * LANES;
  float *factor = s->room + me.me * (2 * PIECE + 2) * size, *h = factor + size;
  for (int64_t row = first(me, s->rows); row < last(me, s->rows); row++)
    for (int64_t lane = 0; lane < C; lane += LANES) {
      int64_t lanes = C - lane < LANES ? C - lane : LANES;
      memset(h, 0, (size_t)size * sizeof(float));
      for (int64_t t = 0; t < T; t++) {
        int64_t at = row * T + t;
        if (t % PIECE == 0)
          for (int64_t n = 0; n < N; n++)
            memcpy(s->kept + ((row * pieces + t / PIECE) * N + n) * C + lane, h + n * LANES, (size_t)lanes * sizeof(float));
        advance(s, s->dt + at * C + lane, s->v + at * C + lane, s->b + at * N, s->a + lane, lanes, h, factor, h);
        float *y = s->y + at * C + lane;
        memset(y, 0, (size_t)lanes * sizeof(float));
        for (int64_t n = 0; n < N; n++)
          for (int64_t c = 0; c < lanes; c++) y[c] += s->c[at * N + n] * h[n * LANES + c];
      }
    }
}

FASTEST static void backward_share(void *given) {
  const Scan *s = given;
  Share me = share();
  int64_t T = s->positions, N = s->states, C = s->channels, pieces = (T + PIECE - 1) / PIECE, size = N * LANES;
  float *factors = s->room + me.me * (2 * PIECE + 2) * size, *states = factors + PIECE * size, *later = states + (PIECE + 1) * size;
  for (int64_t row = first(me, s->rows); row < last(me, s->rows); row++)
    for (int64_t lane = 0; lane < C; lane += LANES) {
      int64_t lanes = C - lane < LANES ? C - lane : LANES;
      float *of_a = s->of_a + row * N * C + lane;
      memset(later, 0, (size_t)size * sizeof(float));
      for (int64_t piece = pieces - 1; piece >= 0; piece--) {
        int64_t begin = piece * PIECE, length = T - begin < PIECE ? T - begin : PIECE;
        for (int64_t n = 0; n < N; n++) /* states: that before the piece, and those in it */
          memcpy(states + n * LANES, s->kept + ((row * pieces + piece) * N + n) * C + lane, (size_t)lanes * sizeof(float));
        for (int64_t t = 0; t < length; t++) {
          int64_t at = row * T + begin + t;
          advance(s, s->dt + at * C + lane, s->v + at * C + lane, s->b + at * N, s->a + lane, lanes, states + t * size, factors + t * size,
                  states + (t + 1) * size);
        }
        for (int64_t t = length - 1; t >= 0; t--) {
          int64_t at = row * T + begin + t;
          const float *g = s->g + at * C + lane, *v = s->v + at * C + lane, *dt = s->dt + at * C + lane;
          float *of_dt = s->of_dt + at * C + lane, *of_v = s->of_v + at * C + lane;
          memset(of_dt, 0, (size_t)lanes * sizeof(float));
          memset(of_v, 0, (size_t)lanes * sizeof(float));
          for (int64_t n = 0; n < N; n++) {
            const float *a = s->a + n * C + lane, *h = states + t * size + n * LANES, *now = h + size, *f = factors + t * size + n * LANES;
            float *k = later + n * LANES, b = s->b[at * N + n], c = s->c[at * N + n], of_b = 0, of_c = 0;
            for (int64_t i = 0; i < lanes; i++) {
              float total = k[i] + c * g[i];
              of_c += g[i] * now[i];
              of_b += v[i] * total;
              of_v[i] += b * total;
              k[i] = f[i] * total;
              float through = k[i] * h[i];
              of_dt[i] += a[i] * through;
              of_a[n * C + i] += dt[i] * through;
            }
            s->of_b[at * N + n] += of_b;
            s->of_c[at * N + n] += of_c;
          }
        }
      }
    }
}

/* -- what Python calls: y and the states before each piece; the gradients, of which of_a, of_b and of_c begin at 0 -- */

int64_t scan_piece(void) { return PIECE; }
int64_t scan_room(int64_t states) { return (2 * PIECE + 2) * states * LANES; } /* numbers for each thread */

void scan_forward(Scan *scan, unsigned threads) { divide(forward_share, scan, threads); }
void scan_backward(Scan *scan, unsigned threads) { divide(backward_share, scan, threads); }
