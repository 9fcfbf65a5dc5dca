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
  for (Job* job : urgent_) delete job;
  for (Job* job : background_) delete job;
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
    (job->urgent ? urgent_ : background_).push_back(job.get());
    job.release();
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
      wake_.wait(lock, [this] { return stop_ || !urgent_.empty() || !background_.empty(); });
      if (stop_) return;
      auto& jobs = urgent_.empty() ? background_ : urgent_;
      job = jobs.front();
      jobs.pop_front();
    }
    resumed_ = Clock::now();
    if (!complete(job)) return;
  }
}

bool JobQueue::complete(Job* job) {
  try {
    job->run();
  } catch (...) {
    job->error = std::current_exception();
  }
  // When the environment is ending nobody waits for the answer, and the job is left to the end of the process.
  const std::lock_guard lock(mutex_);
  return !closed_ && callback_.NonBlockingCall(job) == napi_ok;
}

void JobQueue::pause() {
  // The next decode of a running request arrives within a fraction of this: JavaScript only hands the token on.
  constexpr auto kLinger = std::chrono::milliseconds(3);
  constexpr auto kMostOwed = std::chrono::seconds(5);
  if (serving_) owed_ = std::min<Clock::duration>(owed_ + (Clock::now() - resumed_) * 2, kMostOwed);
  for (;;) {
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      if (stop_) break;
      if (urgent_.empty() && owed_ > Clock::duration::zero()) wake_.wait_for(lock, kLinger, [this] { return stop_ || !urgent_.empty(); });
      if (stop_ || urgent_.empty()) {
        if (owed_ > Clock::duration::zero()) owed_ = Clock::duration::zero(), serving_ = false;
        break;
      }
      job = urgent_.front();
      urgent_.pop_front();
    }
    serving_ = true;
    const auto start = Clock::now();
    if (!complete(job)) break;
    owed_ -= Clock::now() - start;
    if (owed_ < Clock::duration::zero()) owed_ = Clock::duration::zero();
  }
  resumed_ = Clock::now();
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
