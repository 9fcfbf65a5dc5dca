/**
 * A float array on a 64-byte boundary with a readable tail; a large one in huge pages, where the system has them.
 *
 * The tail (`kTail` floats past the end) exists because the GEMM kernels load whole column panels: the last panel of a
 * row-major matrix may read, and then discard, up to one panel width past the last element.
 */
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "error.h"

namespace tackroom {

class AlignedBuffer {
 public:
  static constexpr size_t kTail = 64;
  static constexpr size_t kHugePage = 2 << 20;

  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t count) { reserve(count); }
  AlignedBuffer(const AlignedBuffer& other) { *this = other; }
  AlignedBuffer(AlignedBuffer&& other) noexcept { swap(other); }
  ~AlignedBuffer() { std::free(data_); }

  AlignedBuffer& operator=(const AlignedBuffer& other) {
    if (this == &other) return *this;
    reserve(other.size_);
    if (other.size_ != 0) std::memcpy(data_, other.data_, other.size_ * sizeof(float));
    return *this;
  }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  /** Makes room for `count` floats; contents are undefined afterwards, fresh memory is zero. */
  float* reserve(size_t count) {
    if (count > capacity_) {
      std::free(data_);
      data_ = nullptr;
      capacity_ = size_ = 0;
      const size_t bytes = ((count + kTail) * sizeof(float) + 63) / 64 * 64, large = bytes / kHugePage * kHugePage;
      data_ = static_cast<float*>(std::aligned_alloc(large != 0 ? kHugePage : 64, bytes));
      if (data_ == nullptr) fail("OUT_OF_MEMORY", "The engine could not allocate %zu MB of memory.", bytes >> 20);
#if defined(MADV_HUGEPAGE)
      if (large != 0) madvise(data_, large, MADV_HUGEPAGE);  // a wish: without it the pages are small
#endif
      std::memset(data_, 0, bytes);
      capacity_ = count;
    }
    size_ = count;
    return data_;
  }

  void zero() {
    if (size_ != 0) std::memset(data_, 0, size_ * sizeof(float));
  }
  void swap(AlignedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  float* data() { return data_; }
  const float* data() const { return data_; }
  size_t size() const { return size_; }
  /** Floats that memory is held for. */
  size_t capacity() const { return capacity_; }

 private:
  float* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace tackroom
