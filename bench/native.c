/* The workloads as a programmer writes them for speed: what a compiler of loops is measured against.
 * cc -O3 -march=native -ffast-math -fPIC -c native.c && cc -shared native.o -lm */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef int64_t i64;
#define R restrict

void spec(i64 n, int32_t a, int32_t b, int32_t *R last, int32_t *R values) {
  int more = 1;
  for (i64 i = 0; i < n && more; i++) {
    int32_t mine = a + b, next = a - b;
    values[i] = b + b;
    more = mine > next;
    b = next;
  }
  *last = b;
}

void newton(i64 n, float a, float x, float *R out) {
  int more = 1;
  for (i64 i = 0; i < n && more; i++) {
    x = (x + a / x) * 0.5f;
    more = fabsf(x * x - a) > -1.0f;
  }
  *out = x;
}

void collatz(i64 n, i64 x, i64 *R out) {
  i64 odd = 0;
  for (i64 i = 0; i < n; i++) {
    if ((x & 1) == 0) x /= 2;
    else { x = 3 * x + 1; odd++; }
  }
  out[0] = x; out[1] = odd;
}

void branches(i64 n, const i64 *R ops, i64 *R out) {
  i64 ticks = 0, depth = 0, deepest = 0;
  for (i64 i = 0; i < n; i++) {
    if (ops[i] == 0) { depth++; if (depth > deepest) deepest = depth; }
    else if (ops[i] == 1) { depth--; if (depth < 0) depth = 0; }
    else ticks++;
  }
  out[0] = ticks; out[1] = depth; out[2] = deepest;
}

void words(i64 n, const char **R given, const i64 *R lengths, const char *R target, i64 length, i64 *R out) {
  i64 found = 0;
  for (i64 i = 0; i < n; i++) found += lengths[i] == length && !memcmp(given[i], target, length);
  *out = found;
}

#define NEURON(v, w, current)                                                          \
  { float f = (v) - (v) * (v) * (v) * (1.0f / 3) - (w) + (current);                     \
    float g = (v) + 0.7f - 0.8f * (w);                                                 \
    (v) += 0.05f * f; (w) += (0.05f * 0.08f) * g; }

/* One pass over the state a step; where that does not fit into the fastest memory, 64 neurons at a time through all steps. */
void neurons(i64 n, i64 steps, const float *R current, i64 stride, float *R v, float *R w, float *R rows) {
  enum { PART = 64 };
  i64 whole = n > 2048 ? n / PART * PART : 0;
  for (i64 start = 0; start < whole; start += PART) {
    float x[PART], y[PART];
    memcpy(x, v + start, sizeof x); memcpy(y, w + start, sizeof y);
    for (i64 t = 0; t < steps; t++) {
      const float *R c = current + t * stride + start;
      for (i64 j = 0; j < PART; j++) NEURON(x[j], y[j], c[j])
      if (rows) memcpy(rows + t * n + start, x, sizeof x);
    }
    memcpy(v + start, x, sizeof x); memcpy(w + start, y, sizeof y);
  }
  for (i64 t = 0; t < steps && whole < n; t++) {
    const float *R c = current + t * stride;
    if (rows) { float *R row = rows + t * n; for (i64 j = whole; j < n; j++) { NEURON(v[j], w[j], c[j]) row[j] = v[j]; } }
    else for (i64 j = whole; j < n; j++) NEURON(v[j], w[j], c[j])
  }
}

void selective(i64 t, i64 d, i64 n, const float *R xs, const float *R dts, const float *R bs, const float *R cs,
               const float *R decay, float *R h, float *R ys) {
  for (i64 s = 0; s < t; s++)
    for (i64 i = 0; i < d; i++) {
      float dt = dts[s * d + i], dx = dt * xs[s * d + i], sum = 0;
      for (i64 k = 0; k < n; k++) {
        float kept = expf(dt * decay[i * n + k]) * h[i * n + k] + dx * bs[s * n + k];
        h[i * n + k] = kept;
        sum += kept * cs[s * n + k];
      }
      ys[s * d + i] = sum;
    }
}

static void squares(i64 m, i64 d, const float *R x, const float *R columns, float *R out) {
  enum { PART = 64 };
  i64 j = 0;
  for (; j + PART <= m; j += PART) {
    float sum[PART] = {0};
    for (i64 k = 0; k < d; k++)
      for (i64 l = 0; l < PART; l++) { float gap = columns[k * m + j + l] - x[k]; sum[l] += gap * gap; }
    memcpy(out + j, sum, sizeof sum);
  }
  for (; j < m; j++) {
    float sum = 0;
    for (i64 k = 0; k < d; k++) { float gap = columns[k * m + j] - x[k]; sum += gap * gap; }
    out[j] = sum;
  }
}

void cdist(i64 n, i64 m, i64 d, const float *R xs, const float *R ys, float *R columns, float *R out) {
  for (i64 k = 0; k < d; k++) for (i64 j = 0; j < m; j++) columns[k * m + j] = ys[j * d + k];
  for (i64 i = 0; i < n; i++) squares(m, d, xs + i * d, columns, out + i * m);
}

void cumsum(i64 t, i64 d, const float *R start, const float *R xs, float *R ys) {
  for (i64 j = 0; j < d; j++) ys[j] = start[j] + xs[j];
  for (i64 s = 1; s < t; s++) for (i64 j = 0; j < d; j++) ys[s * d + j] = ys[(s - 1) * d + j] + xs[s * d + j];
}

void knn(i64 n, i64 m, i64 d, i64 k, const float *R queries, const float *R points, const float *R labels,
         float *R columns, float *R row, float *R out) {
  for (i64 i = 0; i < d; i++) for (i64 j = 0; j < m; j++) columns[i * m + j] = points[j * d + i];
  for (i64 q = 0; q < n; q++) {
    float near[16], value[16], sum = 0;
    squares(m, d, queries + q * d, columns, row);
    for (i64 a = 0; a < k; a++) near[a] = HUGE_VALF;
    for (i64 j = 0; j < m; j++)
      if (row[j] < near[k - 1]) {
        i64 a = k - 1;
        for (; a > 0 && near[a - 1] > row[j]; a--) { near[a] = near[a - 1]; value[a] = value[a - 1]; }
        near[a] = row[j]; value[a] = labels[j];
      }
    for (i64 a = 0; a < k; a++) sum += value[a];
    out[q] = sum / k;
  }
}

void mandelbrot(i64 pixels, i64 most, const float *R cr, const float *R ci, i64 *R out) {
  for (i64 p = 0; p < pixels; p++) {
    float a = 0, b = 0; i64 k = 0; int inside = 1;
    for (; k < most && inside; k++) {
      float na = a * a - b * b + cr[p];
      b = 2 * a * b + ci[p]; a = na;
      inside = a * a + b * b <= 4;
    }
    out[p] = k;
  }
}

void plane(i64 pixels, i64 most, const float *R cr, const float *R ci, i64 *R out) {
  for (i64 p = 0; p < pixels; p++) {
    float a = 0, b = 0; i64 k = 0;
    for (; k < most && a * a + b * b <= 4; k++) {
      float na = a * a - b * b + cr[p];
      b = 2 * a * b + ci[p]; a = na;
    }
    out[p] = k;
  }
}

void viterbi(i64 t, i64 s, const float *R moves, const float *R scores, float *R p, int32_t *R from, float *R best,
             i64 *R path) {
  for (i64 step = 0; step < t; step++) {
    int32_t *R row = from + step * s;
    for (i64 j = 0; j < s; j++) { best[j] = p[0] + moves[j]; row[j] = 0; }
    for (i64 i = 1; i < s; i++)
      for (i64 j = 0; j < s; j++) {
        float value = p[i] + moves[i * s + j]; int wins = value > best[j];
        best[j] = wins ? value : best[j]; row[j] = wins ? (int32_t)i : row[j];
      }
    for (i64 j = 0; j < s; j++) p[j] = best[j] + scores[step * s + j];
  }
  i64 k = 0;
  for (i64 j = 1; j < s; j++) if (p[j] > p[k]) k = j;
  for (i64 step = t - 1; step >= 0; step--) { path[step] = k; k = from[step * s + k]; }
}

void levenshtein(i64 rows, i64 columns, const i64 *R s, const i64 *R t, i64 *R line) {
  for (i64 c = 0; c < columns; c++) line[c] = c + 1;
  for (i64 r = 0; r < rows; r++) {
    i64 left = r + 1, diagonal = r;
    for (i64 c = 0; c < columns; c++) {
      i64 up = line[c], replaced = diagonal + (s[r] != t[c]), moved = (up < left ? up : left) + 1;
      left = replaced < moved ? replaced : moved; diagonal = up; line[c] = left;
    }
  }
}

static void add_product(i64 k, i64 n, const float *R x, const float *R w, float *R y) {
  for (i64 i = 0; i + 8 <= k; i += 8) {
    const float *R r = w + i * n;
    for (i64 j = 0; j < n; j++)
      y[j] += x[i] * r[j] + x[i + 1] * r[n + j] + x[i + 2] * r[2 * n + j] + x[i + 3] * r[3 * n + j]
            + x[i + 4] * r[4 * n + j] + x[i + 5] * r[5 * n + j] + x[i + 6] * r[6 * n + j] + x[i + 7] * r[7 * n + j];
  }
}

void decoder(i64 steps, i64 d, i64 vocabulary, i64 token, const float *R table, const float *R wq, const float *R wk,
             const float *R wv, const float *R wo, const float *R out, float scale, float *R ks, float *R vs,
             float *R scores, float *R logits, i64 *R tokens) {
  float q[256], context[256], o[256];
  for (i64 t = 0; t < steps; t++) {
    const float *R x = table + token * d;
    float *R k = ks + t * d, *R v = vs + t * d, most = -HUGE_VALF, sum = 0;
    memset(q, 0, d * 4); memset(k, 0, d * 4); memset(v, 0, d * 4); memset(context, 0, d * 4);
    add_product(d, d, x, wq, q); add_product(d, d, x, wk, k); add_product(d, d, x, wv, v);
    for (i64 i = 0; i <= t; i++) {
      float s = 0;
      for (i64 j = 0; j < d; j++) s += q[j] * ks[i * d + j];
      scores[i] = s * scale;
    }
    for (i64 i = 0; i <= t; i++) most = scores[i] > most ? scores[i] : most;
    for (i64 i = 0; i <= t; i++) { scores[i] = expf(scores[i] - most); sum += scores[i]; }
    for (i64 i = 0; i <= t; i++) for (i64 j = 0; j < d; j++) context[j] += scores[i] * vs[i * d + j];
    for (i64 j = 0; j < d; j++) { context[j] /= sum; o[j] = x[j]; }
    add_product(d, d, context, wo, o);
    memset(logits, 0, vocabulary * 4);
    add_product(d, vocabulary, o, out, logits);
    token = 0;
    for (i64 j = 1; j < vocabulary; j++) if (logits[j] > logits[token]) token = j;
    tokens[t] = token;
  }
}
