/**
 * A small pool for loops whose tasks are independent.
 *
 * Helpers join a loop that is open and leave when no task is left; the caller never waits for a helper that has not
 * joined, so a loop on a busy machine costs no more than running it alone. Helpers spin for some tens of microseconds
 * after a loop and then sleep in the kernel.
 */
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace tackroom {

class ThreadPool {
 public:
  /** `threads` counts the caller; 0 means the number of cores. */
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  /**
   * Work below this many nanoseconds stays on the caller's thread. Low for large models, whose steps wait for memory; high for
   * small ones, where a helper that spins would only take a core from the programs the model works for.
   */
  double worth_sharing = 50e3;
  /** Turns a helper waits for the next loop before it sleeps; a turn is about 40 ns. High for large models: between two tokens it stays. */
  int spins = 2000;

  /** Calls body(task) for every task in [0, tasks); returns when all are done. The body must not throw. */
  template <class Body>
  void run(int tasks, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run_erased(tasks, [](void* context, int task) { (*static_cast<Plain*>(context))(task); },
               const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Call = void (*)(void*, int);
  void run_erased(int tasks, Call call, void* context);
  void help();
  void drain();

  // generation << 32 | open << 31 | helpers inside. A helper enters by compare-and-swap while the loop is open; the
  // caller closes it and waits for the count to reach zero before it touches the fields below again.
  std::atomic<uint64_t> state_{0};
  std::atomic<int> next_{0};
  std::atomic<bool> stop_{false};
  int tasks_ = 0;
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::vector<std::thread> helpers_;
};

}  // namespace tackroom
