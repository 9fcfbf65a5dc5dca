/**
 * The engine thread of one model: jobs run there one at a time, in order, and settle a promise on the JavaScript thread.
 *
 * A job object is created and destroyed on the JavaScript thread only, so that the objects it holds (models, sequences)
 * never die on the engine thread, which may be a thread they own. Jobs hold the owner of their queue, so a queue outlives
 * its jobs.
 *
 * Serving goes before training: urgent jobs are taken first, and a long background job calls `pause` between its parts.
 * There waiting urgent jobs run, and as long as new ones follow at once they get twice the time that the background job
 * took since its last pause, so that decoding keeps more than half of its speed while a step is trained.
 */
#pragma once
#include <napi.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace tackroom {

class Job {
 public:
  explicit Job(Napi::Env env) : deferred(Napi::Promise::Deferred::New(env)) {}
  virtual ~Job() = default;
  virtual void run() = 0;
  virtual Napi::Value result(Napi::Env env) = 0;
  bool urgent = true;
  Napi::Promise::Deferred deferred;
  std::exception_ptr error;
};

class JobQueue {
 public:
  explicit JobQueue(Napi::Env env);
  /** Waits for the running job; queued ones are dropped. */
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  Napi::Promise push(std::unique_ptr<Job> job);

  /** Queues work() -> R and answers with convert(env, R). */
  template <class Work, class Convert>
  Napi::Promise push(Napi::Env env, Work work, Convert convert, bool urgent = true) {
    using Result = decltype(work());
    struct Task final : Job {
      Task(Napi::Env e, Work w, Convert c) : Job(e), work(std::move(w)), convert(std::move(c)) {}
      void run() override { value = std::make_unique<Result>(work()); }
      Napi::Value result(Napi::Env e) override { return convert(e, *value); }
      Work work;
      Convert convert;
      std::unique_ptr<Result> value;
    };
    auto task = std::make_unique<Task>(env, std::move(work), std::move(convert));
    task->urgent = urgent;
    return push(std::move(task));
  }

  /** Engine thread, inside a background job: runs urgent jobs that wait. */
  void pause();

 private:
  using Clock = std::chrono::steady_clock;
  void loop();
  /** Runs a job and hands its answer over; false when nobody takes answers any more. */
  bool complete(Job* job);
  /** Runs before the environment destroys the callback, which it does whether or not a thread still holds it. */
  static void close(void* queue);
  static void settle(Napi::Env env, Napi::Function, JobQueue* queue, Job* job);

  void settled();

  using Callback = Napi::TypedThreadSafeFunction<JobQueue, Job, &JobQueue::settle>;
  Napi::Env env_;
  Callback callback_;
  int in_flight_ = 0;  // JavaScript thread only; above 0 the event loop is kept alive
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> urgent_, background_;
  Clock::time_point resumed_;      // when the background job last went on; engine thread only, as the next two
  Clock::duration owed_{0};        // time that serving may still claim
  bool serving_ = false;           // an urgent job ran in the last pause
  bool stop_ = false;
  bool closed_ = false;  // the environment is ending; the callback is no longer ours to use
  std::thread thread_;
};

}  // namespace tackroom
