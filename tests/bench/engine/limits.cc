// What this machine allows, measured by the least code that can reach it: reading memory and multiply-adds from registers.
//
// usage: limits THREADS BYTES...    prints one JSON line; compiled for this processor by tests/bench/engine/limits.mjs
//   read: for each size and thread count, GB/s (1e9) of a sum over a buffer of that many bytes, split over the threads
//   compute: for each kind of arithmetic that this processor has, 1e9 operations (2 a multiply-add) per second on THREADS
// Best of the repetitions, because the machine may be shared.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>
#if defined(__AMX_INT8__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds that `body(thread)` takes on `threads` threads that start together; best of `repeats`.
double best_seconds(int threads, int repeats, const std::function<void(int)>& body) {
  double best = 1e30;
  for (int r = 0; r < repeats; ++r) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) {
      others.emplace_back([&, t] {
        ++ready;
        while (!go.load()) {
        }
        body(t);
      });
    }
    while (ready.load() < threads - 1) std::this_thread::yield();
    const double start = now();
    go = true;
    body(0);
    for (auto& other : others) other.join();
    best = std::min(best, now() - start);
  }
  return best;
}

volatile int64_t sink;

int64_t sum(const int64_t* data, size_t count) {
  int64_t total = 0;
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) total += data[i];
  return total;
}

double read_gbs(int threads, const std::vector<int64_t>& data) {
  const size_t part = data.size() / threads;
  const double seconds = best_seconds(threads, 12, [&](int t) { sink = sum(data.data() + t * part, part); });
  return static_cast<double>(part * threads * sizeof(int64_t)) / seconds / 1e9;
}

constexpr int kRounds = 3'000'000;

double gops(int threads, double operations_per_round, void (*body)()) {
  return operations_per_round * kRounds * threads / best_seconds(threads, 8, [&](int) { body(); }) / 1e9;
}

// Twelve accumulators hide the latency of four cycles at two instructions a cycle. The empty asm keeps them in registers.
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define KEEP(i) asm volatile("" : "+v"(a[i]));

#if defined(__AVX512F__)
void fp32_body() {
  __m512 a[12] = {}, b = _mm512_set1_ps(0.5f), c = _mm512_set1_ps(0.25f);
  for (int r = 0; r < kRounds; ++r) {
#define STEP(i) a[i] = _mm512_fmadd_ps(b, c, a[i]);
    TWELVE(STEP) TWELVE(KEEP)
#undef STEP
  }
}
constexpr double kFp32Operations = 12 * 32;
#elif defined(__AVX2__) && defined(__FMA__)
void fp32_body() {
  __m256 a[12] = {}, b = _mm256_set1_ps(0.5f), c = _mm256_set1_ps(0.25f);
  for (int r = 0; r < kRounds; ++r) {
#define STEP(i) a[i] = _mm256_fmadd_ps(b, c, a[i]);
    TWELVE(STEP) TWELVE(KEEP)
#undef STEP
  }
}
constexpr double kFp32Operations = 12 * 16;
#endif

#if defined(__AVX512BF16__)
void bf16_body() {
  __m512 a[12] = {};
  const __m512bh b = (__m512bh)_mm512_set1_epi16(0x3f00);
  for (int r = 0; r < kRounds; ++r) {
#define STEP(i) a[i] = _mm512_dpbf16_ps(a[i], b, b);
    TWELVE(STEP) TWELVE(KEEP)
#undef STEP
  }
}
#endif

#if defined(__AVX512VNNI__)
void int8_body() {
  __m512i a[12] = {}, b = _mm512_set1_epi8(1);
  for (int r = 0; r < kRounds; ++r) {
#define STEP(i) a[i] = _mm512_dpbusd_epi32(a[i], b, b);
    TWELVE(STEP) TWELVE(KEEP)
#undef STEP
  }
}
#endif

#if defined(__AVX512VNNI__)
void int16_body() {
  __m512i a[12] = {}, b = _mm512_set1_epi16(1);
  for (int r = 0; r < kRounds; ++r) {
#define STEP(i) a[i] = _mm512_dpwssd_epi32(a[i], b, b);
    TWELVE(STEP) TWELVE(KEEP)
#undef STEP
  }
}
#endif

#if defined(__AMX_INT8__) && defined(__AMX_BF16__) && defined(__linux__)
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_per_row[16] = {};
  uint8_t rows[16] = {};
};

void configure_tiles() {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.bytes_per_row[i] = 64;
    config.rows[i] = 16;
  }
  // GCC 12 takes only the first eight bytes as read and would leave out the stores to the others.
  asm volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

constexpr int kTileRounds = kRounds / 16;

void amx_int8_body() {
  configure_tiles();
  for (int r = 0; r < kTileRounds; ++r) {
    _tile_dpbssd(0, 4, 5);
    _tile_dpbssd(1, 4, 5);
    _tile_dpbssd(2, 4, 5);
    _tile_dpbssd(3, 4, 5);
  }
  _tile_release();
}

void amx_bf16_body() {
  configure_tiles();
  for (int r = 0; r < kTileRounds; ++r) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::printf("{\"read\":[");
  for (int i = 2; i < argc; ++i) {
    const size_t count = std::strtoull(argv[i], nullptr, 10) / sizeof(int64_t);
    const std::vector<int64_t> data(count, 1);
    for (int t = 1; t <= threads; ++t)
      std::printf("%s{\"bytes\":%zu,\"threads\":%d,\"gbs\":%.2f}", i > 2 || t > 1 ? "," : "", count * sizeof(int64_t), t, read_gbs(t, data));
  }
  std::printf("],\"compute\":{\"threads\":%d", threads);
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
  std::printf(",\"fp32\":%.0f", gops(threads, kFp32Operations, fp32_body));
#endif
#if defined(__AVX512BF16__)
  std::printf(",\"bf16\":%.0f", gops(threads, 12 * 64, bf16_body));
#endif
#if defined(__AVX512VNNI__)
  std::printf(",\"int16\":%.0f", gops(threads, 12 * 64, int16_body));
  std::printf(",\"int8\":%.0f", gops(threads, 12 * 128, int8_body));
#endif
#if defined(__AMX_INT8__) && defined(__AMX_BF16__) && defined(__linux__)
  // ARCH_REQ_XCOMP_PERM for the tile data (Linux kernel, Documentation/arch/x86/xstate.rst).
  if (syscall(SYS_arch_prctl, 0x1023, 18) == 0) {
    // A tile product is 16 x 16 x 64 (8 bit) or x 32 (16 bit) multiply-adds; four of them stand in a sixteenth of the rounds.
    std::printf(",\"amxInt8\":%.0f", gops(threads, 4 * 2.0 * 16 * 16 * 64 / 16, amx_int8_body));
    std::printf(",\"amxBf16\":%.0f", gops(threads, 4 * 2.0 * 16 * 16 * 32 / 16, amx_bf16_body));
  }
#endif
  std::printf("}}\n");
  return 0;
}
