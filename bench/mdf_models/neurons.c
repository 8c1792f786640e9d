/* The models as a programmer writes them: explicit Euler steps in the order of the files, rows of what is recorded.
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
