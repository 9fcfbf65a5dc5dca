/**
 * The engine thread of one model: jobs run there one at a time, in order, and settle a promise on the JavaScript thread.
 *
 * A job object is created and destroyed on the JavaScript thread only, so that the objects it holds (models, sequences)
 * never die on the engine thread, which may be a thread they own. Jobs hold the owner of their queue, so a queue outlives
 * its jobs.
 */
#pragma once
#include <napi.h>

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
  Napi::Promise push(Napi::Env env, Work work, Convert convert) {
    using Result = decltype(work());
    struct Task final : Job {
      Task(Napi::Env e, Work w, Convert c) : Job(e), work(std::move(w)), convert(std::move(c)) {}
      void run() override { value = std::make_unique<Result>(work()); }
      Napi::Value result(Napi::Env e) override { return convert(e, *value); }
      Work work;
      Convert convert;
      std::unique_ptr<Result> value;
    };
    return push(std::make_unique<Task>(env, std::move(work), std::move(convert)));
  }

 private:
  void loop();
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
  std::deque<Job*> jobs_;
  bool stop_ = false;
  bool closed_ = false;  // the environment is ending; the callback is no longer ours to use
  std::thread thread_;
};

}  // namespace tackroom
