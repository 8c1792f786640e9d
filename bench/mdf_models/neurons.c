/* The models as a programmer writes them: explicit Euler steps in the order of the files, or Runge-Kutta steps; rows of what
 * is recorded.
 * cc -O3 -march=native -fPIC -shared neurons.c -lm */
#include <math.h>
#include <stdint.h>

typedef int64_t i64;
#define R restrict

void fitzhugh_nagumo(i64 n, i64 steps, double dt, double *R v, double *R w, const double *R current, double *R vs,
                     double *R ws) {
  for (i64 t = 0; t < steps; t++, vs += n, ws += n)
    for (i64 i = 0; i < n; i++) {
      double V = v[i], W = w[i];
      V += dt * (V - V * V * V / 3 - W + current[i]);
      W += dt * ((V + 0.7 - 0.8 * W) / 12.5);
      v[i] = vs[i] = V;
      w[i] = ws[i] = W;
    }
}

void izhikevich(i64 n, i64 steps, double dt, double *R v, double *R u, const double *R current, double *R vs,
                double *R us) {
  for (i64 t = 0; t < steps; t++, vs += n, us += n)
    for (i64 i = 0; i < n; i++) {
      double V = v[i], U = u[i], V1, U1;
      V1 = V + dt * ((0.7 * (V + 60) * (V + 40) - U + current[i]) / 100);
      V1 = V > 35 ? -50 : V1;
      U1 = U + dt * (0.03 * (-2 * (V1 + 60) - U));
      U1 = V1 > 35 ? U + 100 : U1;
      v[i] = vs[i] = V1;
      u[i] = us[i] = U1;
    }
}

void hodgkin_huxley(i64 one, i64 steps, double dt, double *R n0, double *R m0, double *R h0, double *R v0,
                    double *R ns, double *R ms, double *R hs, double *R vs) {
  double n = *n0, m = *m0, h = *h0, v = *v0;
  for (i64 t = 0; t < steps; t++) {
    double an = 0.01 * (v + 55) / (1 - exp(-(v + 55) / 10)), bn = 0.125 * exp(-(v + 65) / 80);
    double am = 0.1 * (v + 40) / (1 - exp(-(v + 40) / 10)), bm = 4 * exp(-(v + 65) / 18);
    double ah = 0.07 * exp(-(v + 65) / 20), bh = 1 / (1 + exp(-(v + 35) / 10));
    n += dt * (an * (1 - n) - bn * n);
    m += dt * (am * (1 - m) - bm * m);
    h += dt * (ah * (1 - h) - bh * h);
    v += dt * (10 - (120 * m * m * m * h * (v - 50) + 36 * n * n * n * n * (v + 77) + 0.3 * (v + 54.387)));
    ns[t] = n, ms[t] = m, hs[t] = h, vs[t] = v;
  }
  *n0 = n, *m0 = m, *h0 = h, *v0 = v;
}

void recurrent(i64 n, i64 steps, double dt, double *R x, const double *R weights, const double *R bias,
               double *R xs) {
  double r[n];
  for (i64 t = 0; t < steps; t++, xs += n) {
    for (i64 i = 0; i < n; i++) r[i] = tanh(x[i]);
    for (i64 i = 0; i < n; i++) {
      double total = 0;
      for (i64 k = 0; k < n; k++) total += weights[i * n + k] * r[k];
      x[i] += dt * ((total + bias[i] - x[i]) / 0.1);
      xs[i] = x[i];
    }
  }
}

void integrate_and_fire(i64 n, i64 steps, double dt, double *R v, double *R s, const double *R weights,
                        const double *R current, double *R vs, double *R ss) {
  for (i64 t = 0; t < steps; t++, vs += n, ss += n) {
    for (i64 i = 0; i < n; i++) s[i] = ss[i] = v[i] > -50;
    for (i64 i = 0; i < n; i++) {
      double total = 0;
      for (i64 k = 0; k < n; k++) total += weights[i * n + k] * s[k];
      double next = v[i] + dt * ((-65 - v[i] + current[i] + total) / 10);
      v[i] = vs[i] = v[i] > -50 ? -65 : next;
    }
  }
}

/* The classical Runge-Kutta method: rates at the start, twice in the middle, at the end. */
static inline void fitzhugh_nagumo_rates(double V, double W, double I, double *R dV, double *R dW) {
  *dV = V - V * V * V / 3 - W + I;
  *dW = (V + 0.7 - 0.8 * W) / 12.5;
}

void fitzhugh_nagumo_rk4(i64 n, i64 steps, double dt, double *R v, double *R w, const double *R current, double *R vs,
                         double *R ws) {
  for (i64 t = 0; t < steps; t++, vs += n, ws += n)
    for (i64 i = 0; i < n; i++) {
      double V = v[i], W = w[i], I = current[i], a[4], b[4];
      fitzhugh_nagumo_rates(V, W, I, a, b);
      fitzhugh_nagumo_rates(V + 0.5 * dt * a[0], W + 0.5 * dt * b[0], I, a + 1, b + 1);
      fitzhugh_nagumo_rates(V + 0.5 * dt * a[1], W + 0.5 * dt * b[1], I, a + 2, b + 2);
      fitzhugh_nagumo_rates(V + dt * a[2], W + dt * b[2], I, a + 3, b + 3);
      v[i] = vs[i] = V + dt * (a[0] + 2 * a[1] + 2 * a[2] + a[3]) / 6;
      w[i] = ws[i] = W + dt * (b[0] + 2 * b[1] + 2 * b[2] + b[3]) / 6;
    }
}

static inline void hodgkin_huxley_rates(const double *R x, double *R d) {
  double n = x[0], m = x[1], h = x[2], v = x[3];
  double an = 0.01 * (v + 55) / (1 - exp(-(v + 55) / 10)), bn = 0.125 * exp(-(v + 65) / 80);
  double am = 0.1 * (v + 40) / (1 - exp(-(v + 40) / 10)), bm = 4 * exp(-(v + 65) / 18);
  double ah = 0.07 * exp(-(v + 65) / 20), bh = 1 / (1 + exp(-(v + 35) / 10));
  d[0] = an * (1 - n) - bn * n;
  d[1] = am * (1 - m) - bm * m;
  d[2] = ah * (1 - h) - bh * h;
  d[3] = 10 - (120 * m * m * m * h * (v - 50) + 36 * n * n * n * n * (v + 77) + 0.3 * (v + 54.387));
}

void hodgkin_huxley_rk4(i64 one, i64 steps, double dt, double *R n0, double *R m0, double *R h0, double *R v0,
                        double *R ns, double *R ms, double *R hs, double *R vs) {
  double x[4] = {*n0, *m0, *h0, *v0}, y[4], k[4][4];
  for (i64 t = 0; t < steps; t++) {
    hodgkin_huxley_rates(x, k[0]);
    for (int s = 1; s < 4; s++) {
      for (int i = 0; i < 4; i++) y[i] = x[i] + (s == 3 ? dt : 0.5 * dt) * k[s - 1][i];
      hodgkin_huxley_rates(y, k[s]);
    }
    for (int i = 0; i < 4; i++) x[i] += dt * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
    ns[t] = x[0], ms[t] = x[1], hs[t] = x[2], vs[t] = x[3];
  }
  *n0 = x[0], *m0 = x[1], *h0 = x[2], *v0 = x[3];
}

static inline void recurrent_rates(i64 n, const double *R x, const double *R weights, const double *R bias,
                                   double *R r, double *R d) {
  for (i64 i = 0; i < n; i++) r[i] = tanh(x[i]);
  for (i64 i = 0; i < n; i++) {
    double total = 0;
    for (i64 k = 0; k < n; k++) total += weights[i * n + k] * r[k];
    d[i] = (total + bias[i] - x[i]) / 0.1;
  }
}

void recurrent_rk4(i64 n, i64 steps, double dt, double *R x, const double *R weights, const double *R bias,
                   double *R xs) {
  double r[n], y[n], k[4][n];
  for (i64 t = 0; t < steps; t++, xs += n) {
    recurrent_rates(n, x, weights, bias, r, k[0]);
    for (int s = 1; s < 4; s++) {
      for (i64 i = 0; i < n; i++) y[i] = x[i] + (s == 3 ? dt : 0.5 * dt) * k[s - 1][i];
      recurrent_rates(n, y, weights, bias, r, k[s]);
    }
    for (i64 i = 0; i < n; i++) x[i] = xs[i] = x[i] + dt * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
  }
}
