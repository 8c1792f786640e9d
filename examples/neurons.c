/* Runs the loop of neurons.onnxtxt without Python: eight neurons, a thousand steps.

   From the checkout, with whorl and a C compiler:

     mkdir -p build
     whorl compile examples/neurons.onnxtxt -o build/neurons.o --header build/neurons.h --dim n=8 --input steps=1000
     cc -O2 -Ibuild examples/neurons.c build/neurons.o -lm -o build/neurons
     build/neurons

   `-o build/libneurons.so` makes a shared library instead; link with -Lbuild -lneurons. */

#include <stdio.h>
#include <stdlib.h>

#include "neurons.h"

#define COUNT (NEURONS_INPUT_0_BYTES / (int)sizeof(float))
#define STEPS (NEURONS_OUTPUT_2_BYTES / (int)sizeof(float) / COUNT)

static void describe(const char *kind, const whorl_tensor *tensor)
{
    printf("%s %s [", kind, tensor->name);
    for (int axis = 0; axis < tensor->rank; axis++)
        printf("%s%lld", axis ? ", " : "", (long long)tensor->shape[axis]);
    printf("]\n");
}

int main(void)
{
    static float v0[COUNT], w0[COUNT], current[COUNT], v[COUNT], w[COUNT], trace[STEPS][COUNT];

    for (int n = 0; n < NEURONS_INPUTS; n++)
        describe("input", neurons_input(n));
    for (int n = 0; n < NEURONS_OUTPUTS; n++)
        describe("output", neurons_output(n));

    for (int n = 0; n < COUNT; n++) {
        v0[n] = -1.0f;
        current[n] = 0.125f * (float)n;
    }
    const void *inputs[] = {v0, w0, current};
    void *outputs[] = {v, w, trace};
    int32_t status = neurons_run(inputs, outputs, NULL, NULL, NULL);
    if (status != WHORL_DONE) {
        fprintf(stderr, "%s\n", neurons_message(status));
        return EXIT_FAILURE;
    }

    for (int n = 0; n < COUNT; n++) {
        int spikes = 0;
        for (int step = 1; step < STEPS; step++)
            spikes += trace[step - 1][n] < 1.0f && trace[step][n] >= 1.0f;
        printf("neuron %d: current %.3f, v %.6f, w %.6f, %d spikes\n", n, current[n], v[n], w[n], spikes);
    }
    return EXIT_SUCCESS;
}
