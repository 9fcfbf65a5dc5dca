#include "read_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "thread_pool.h"

namespace tackroom {

double read_bandwidth(size_t bytes, int threads) {
  constexpr size_t kChunk = 64 << 10;  // words: small enough that no thread waits long for the last one
  constexpr double kSeconds = 0.5;
  using Clock = std::chrono::steady_clock;
  ThreadPool pool(threads);
  pool.worth_sharing = 0;
  const std::vector<int64_t> words(std::max<size_t>(1, bytes / sizeof(int64_t)), 1);
  const auto chunks = static_cast<int>((words.size() + kChunk - 1) / kChunk);
  std::atomic<int64_t> total{0};
  double best = 0;
  for (double spent = 0; spent < kSeconds;) {
    const auto start = Clock::now();
    pool.run(chunks, [&](int chunk) {
      const size_t begin = static_cast<size_t>(chunk) * kChunk, end = std::min(words.size(), begin + kChunk);
      int64_t sum = 0;
      for (size_t i = begin; i < end; i++) sum += words[i];
      total += sum;
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    spent += seconds;
    best = std::max(best, static_cast<double>(words.size() * sizeof(int64_t)) / seconds);
  }
  return best;
}

}  // namespace tackroom
