#include "job_queue.h"

#include "napi_values.h"

namespace tackroom {

JobQueue::JobQueue(Napi::Env env) : env_(env), callback_(Callback::New(env, "tackroom engine", 0, 1, this)) {
  callback_.Unref(env);
  thread_ = std::thread([this] { loop(); });
}

JobQueue::~JobQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  for (Job* job : jobs_) delete job;
  callback_.Release();
}

Napi::Promise JobQueue::push(std::unique_ptr<Job> job) {
  const Napi::Promise promise = job->deferred.Promise();
  if (in_flight_++ == 0) callback_.Ref(env_);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job.release());
  }
  wake_.notify_one();
  return promise;
}

void JobQueue::settled() {
  if (--in_flight_ == 0) callback_.Unref(env_);
}

void JobQueue::loop() {
  for (;;) {
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      job = jobs_.front();
      jobs_.pop_front();
    }
    try {
      job->run();
    } catch (...) {
      job->error = std::current_exception();
    }
    // When the environment is closing nobody waits for the answer and the job is left to the end of the process.
    if (callback_.NonBlockingCall(job) != napi_ok) return;
  }
}

void JobQueue::settle(Napi::Env env, Napi::Function, JobQueue* queue, Job* raw) {
  const std::unique_ptr<Job> job(raw);
  if (env == nullptr) return;
  queue->settled();
  if (!job->error) {
    try {
      job->deferred.Resolve(job->result(env));
      return;
    } catch (...) {
      job->error = std::current_exception();
    }
  }
  job->deferred.Reject(to_js_error(env, job->error).Value());
}

}  // namespace tackroom
