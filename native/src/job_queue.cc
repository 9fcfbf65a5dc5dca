#include "job_queue.h"

#include "napi_values.h"

namespace tackroom {

JobQueue::JobQueue(Napi::Env env) : env_(env), callback_(Callback::New(env, "tackroom engine", 0, 1, this)) {
  callback_.Unref(env);
  napi_add_env_cleanup_hook(env, &JobQueue::close, this);
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
  if (closed_) return;
  napi_remove_env_cleanup_hook(env_, &JobQueue::close, this);
  callback_.Release();
}

void JobQueue::close(void* raw) {
  auto* queue = static_cast<JobQueue*>(raw);
  const std::lock_guard lock(queue->mutex_);
  queue->closed_ = true;
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
    // When the environment is ending nobody waits for the answer, and the job is left to the end of the process.
    const std::lock_guard lock(mutex_);
    if (closed_ || callback_.NonBlockingCall(job) != napi_ok) return;
  }
}

void JobQueue::settle(Napi::Env env, Napi::Function, JobQueue* queue, Job* raw) {
  const std::unique_ptr<Job> job(raw);
  if (env == nullptr) return;
  queue->settled();
  try {
    if (!job->error) {
      try {
        return job->deferred.Resolve(job->result(env));
      } catch (...) {
        job->error = std::current_exception();
      }
    }
    job->deferred.Reject(to_js_error(env, job->error).Value());
  } catch (const Napi::Error&) {
    // JavaScript can no longer run: the process is on its way out and nobody waits for the promise.
  }
}

}  // namespace tackroom
