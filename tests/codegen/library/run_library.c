/* Runs a library that whorl compiled as `model`, by its header alone: `program REQUESTS RESULTS`.

   A file of requests has how many runs there are, then for each input of each run the rank, the lengths and the elements.
   One of results has for each run the status, and, where that is 0, the lengths and elements of each output. Numbers are
   64-bit integers. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static int64_t lengths[MODEL_LENGTHS + 1];

static void need(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(2);
    }
}

static int64_t read_number(FILE *file) {
    int64_t number;
    need(fread(&number, sizeof number, 1, file) == 1, "the requests end early");
    return number;
}

static size_t bytes_of(int32_t type) {
    switch (type) {
    case WHORL_FLOAT64:
    case WHORL_INT64:
    case WHORL_UINT64:
        return 8;
    case WHORL_FLOAT32:
    case WHORL_INT32:
    case WHORL_UINT32:
        return 4;
    case WHORL_FLOAT16:
    case WHORL_INT16:
    case WHORL_UINT16:
        return 2;
    default:
        return 1;
    }
}

/* A length that has a name is an argument of the run. */
static void set_length(const char *name, int64_t length) {
    for (int32_t n = 0; n < MODEL_LENGTHS; n++)
        if (name != NULL && !strcmp(model_length(n), name))
            lengths[n] = length;
}

static void *read_input(FILE *file, const whorl_tensor *tensor) {
    int64_t count = 1;
    need(read_number(file) == tensor->rank, "an input has another rank");
    for (int32_t axis = 0; axis < tensor->rank; axis++) {
        int64_t length = read_number(file);
        if (tensor->shape[axis] < 0)
            set_length(tensor->dims[axis], length);
        else
            need(tensor->shape[axis] == length, "an input has another length");
        count *= length;
    }
    size_t bytes = (size_t)count * bytes_of(tensor->type);
    void *data = malloc(bytes + 1);
    need(data != NULL && fread(data, 1, bytes, file) == bytes, "the requests end early");
    return data;
}

static void write_output(FILE *file, const whorl_tensor *tensor, const int64_t *shape, const void *data) {
    size_t bytes = bytes_of(tensor->type);
    for (int32_t axis = 0; axis < tensor->rank; axis++) {
        fwrite(&shape[axis], sizeof shape[axis], 1, file);
        bytes *= (size_t)shape[axis];
    }
    if (bytes)
        fwrite(data, 1, bytes, file);
}

static void run_once(FILE *requests, FILE *results, void *workspace) {
    const void *inputs[MODEL_INPUTS + 1] = {0};
    void *outputs[MODEL_OUTPUTS + 1] = {0};
    whorl_array arrays[MODEL_OUTPUTS + 1];
    int64_t iterations[MODEL_DEPTH + 1];
    for (int32_t n = 0; n < MODEL_INPUTS; n++)
        inputs[n] = read_input(requests, model_input(n));
    for (int32_t n = 0; n < MODEL_OUTPUTS; n++) {
        int64_t bytes = model_output(n)->bytes;
        outputs[n] = bytes < 0 ? (void *)&arrays[n] : malloc((size_t)bytes + 1);
        need(outputs[n] != NULL, "there is no memory");
    }
    int64_t status = model_run(inputs, outputs, lengths, workspace, iterations);
    fwrite(&status, sizeof status, 1, results);
    if (status)
        fprintf(stderr, "%s\n", model_message((int32_t)status));
    for (int32_t n = 0; n < MODEL_OUTPUTS; n++) {
        const whorl_tensor *tensor = model_output(n);
        int is_open = tensor->bytes < 0;
        void *data = is_open && !status ? arrays[n].data : is_open ? NULL : outputs[n];
        if (!status)
            write_output(results, tensor, is_open ? arrays[n].shape : tensor->shape, data);
        free(data);
    }
    for (int32_t n = 0; n < MODEL_INPUTS; n++)
        free((void *)inputs[n]);
}

int main(int count, char **arguments) {
    need(count == 3, "give a file of requests and one for results");
    FILE *requests = fopen(arguments[1], "rb"), *results = fopen(arguments[2], "wb");
    need(requests != NULL && results != NULL, "a file cannot be opened");
    int64_t size = model_workspace_size();
    void *workspace = size ? malloc((size_t)size) : NULL;
    for (int64_t runs = read_number(requests), n = 0; n < runs; n++)
        run_once(requests, results, n % 2 ? workspace : NULL);
    free(workspace);
    return fclose(requests) || fclose(results);
}
