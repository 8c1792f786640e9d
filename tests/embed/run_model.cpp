// Runs OUT.onnx with OUT.whorl.so on threads at once: `run_model OUT.onnx OUT.whorl.so COUNT THREADS`.
// x is [1, 2, 3], n is COUNT. The functions of onnxruntime are called by their positions in its table.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct OrtApiBase {
    const void *const *(*get_api)(uint32_t version);
    const char *(*version)();
};
extern "C" const OrtApiBase *OrtGetApiBase();

static const void *const *api;

static void release(int slot, void *object) {
    reinterpret_cast<void (*)(void *)>(const_cast<void *>(api[slot]))(object);
}

template <typename... Arguments> static void call(int slot, Arguments... arguments) {
    void *status = reinterpret_cast<void *(*)(Arguments...)>(const_cast<void *>(api[slot]))(arguments...);
    if (status == nullptr) return;
    std::fprintf(stderr, "%s\n", reinterpret_cast<const char *(*)(void *)>(const_cast<void *>(api[2]))(status));
    std::_Exit(3);  // other threads are inside onnxruntime, whose globals exit() would destroy under them
}

enum {
    CreateEnv = 3, CreateSession = 7, Run = 9, CreateSessionOptions = 10, RegisterCustomOpsLibrary = 29,
    CreateTensorWithData = 49, GetTensorMutableData = 51, GetTensorShapeElementCount = 64, GetTensorTypeAndShape = 65,
    CreateCpuMemoryInfo = 69, ReleaseEnv = 92, ReleaseMemoryInfo = 94, ReleaseSession = 95, ReleaseValue = 96,
    ReleaseTensorTypeAndShape = 99, ReleaseSessionOptions = 100
};

int main(int count, char **arguments) {
    if (count != 5) return 2;
    api = OrtGetApiBase()->get_api(17);
    void *environment = nullptr, *options = nullptr, *library = nullptr, *session = nullptr, *memory = nullptr;
    call(CreateEnv, 3, static_cast<const char *>("test"), &environment);
    call(CreateSessionOptions, &options);
    call(RegisterCustomOpsLibrary, options, static_cast<const char *>(arguments[2]), &library);
    call(CreateSession, environment, static_cast<const char *>(arguments[1]), options, &session);
    call(CreateCpuMemoryInfo, 1, 0, &memory);

    auto run = [&](bool prints) {
        float x[3] = {1, 2, 3};
        int64_t n = std::atoll(arguments[3]), three = 3;
        void *inputs[2] = {nullptr, nullptr}, *output = nullptr, *info = nullptr;
        call(CreateTensorWithData, memory, static_cast<void *>(x), sizeof x, &three, size_t(1), 1, &inputs[0]);
        call(CreateTensorWithData, memory, static_cast<void *>(&n), sizeof n, &three, size_t(0), 7, &inputs[1]);
        const char *names[2] = {"x", "n"}, *results[1] = {"y"};
        call(Run, session, static_cast<void *>(nullptr), &names[0], &inputs[0], size_t(2), &results[0], size_t(1), &output);
        float *data = nullptr;
        size_t elements = 0;
        call(GetTensorMutableData, output, &data);
        call(GetTensorTypeAndShape, output, &info);
        call(GetTensorShapeElementCount, info, &elements);
        for (size_t k = 0; prints && k < elements; k++) std::printf("%g\n", data[k]);
        release(ReleaseTensorTypeAndShape, info);
        for (void *value : {inputs[0], inputs[1], output}) release(ReleaseValue, value);
    };
    std::vector<std::thread> threads;
    for (int k = 0; k < std::atoi(arguments[4]); k++) threads.emplace_back(run, false);
    for (auto &thread : threads) thread.join();
    run(true);
    release(ReleaseSession, session);
    release(ReleaseMemoryInfo, memory);
    release(ReleaseSessionOptions, options);
    release(ReleaseEnv, environment);
}
