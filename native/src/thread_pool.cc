#include "thread_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tackroom {
namespace {

constexpr uint64_t kOpen = 1ull << 31;
constexpr uint64_t kCount = kOpen - 1;
constexpr int kSpins = 2000;  // of the caller, before it lets others run

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  if (threads < 1) threads = 1;
  for (int i = 1; i < threads; i++) helpers_.emplace_back([this] { help(); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  state_.fetch_add(1ull << 32);
  state_.notify_all();
  for (auto& helper : helpers_) helper.join();
}

void ThreadPool::drain() {
  for (int task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;) call_(context_, task);
}

void ThreadPool::run_erased(int tasks, Call call, void* context) {
  if (tasks <= 0) return;
  if (tasks == 1 || helpers_.empty()) {
    for (int task = 0; task < tasks; task++) call(context, task);
    return;
  }
  tasks_ = tasks;
  call_ = call;
  context_ = context;
  next_.store(0, std::memory_order_relaxed);
  const uint64_t generation = (state_.load() >> 32) + 1;
  state_.store(generation << 32 | kOpen);
  state_.notify_all();
  drain();
  uint64_t seen = state_.fetch_and(~kOpen);
  for (int spins = 0; ((seen = state_.load(std::memory_order_acquire)) & kCount) != 0; spins++) {
    if (spins < kSpins) relax();
    else std::this_thread::yield();
  }
}

void ThreadPool::help() {
  uint64_t last = 0;
  for (;;) {
    uint64_t seen = state_.load(std::memory_order_acquire);
    for (int turns = 0; !stop_.load(std::memory_order_relaxed) && ((seen & kOpen) == 0 || seen >> 32 == last); turns++) {
      if (turns < spins) relax();
      else state_.wait(seen);
      seen = state_.load(std::memory_order_acquire);
    }
    if (stop_.load()) return;
    if (!state_.compare_exchange_weak(seen, seen + 1)) continue;
    last = seen >> 32;
    drain();
    state_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace tackroom
