/** An array that grows and is never filled: what is reserved is written before it is read. Pointers into it move. */
#pragma once
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace tackroom::scan {

template <class T>
class Growing {
 public:
  Growing() = default;
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  ~Growing() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t at) { return data_[at]; }
  int64_t length() const { return length_; }
  void set_length(int64_t length) { length_ = length; }

  /** Room for `count` more behind what is there. */
  void reserve(int64_t count) {
    if (length_ + count > capacity_) grow(count);
  }
  /** Takes `count` more; the index of the first. */
  int64_t push(int64_t count) {
    reserve(count);
    const int64_t at = length_;
    length_ += count;
    return at;
  }
  void add(const T& value) {
    if (length_ == capacity_) grow(1);
    data_[length_++] = value;
  }

 private:
  /** Positions are 32-bit numbers in what the scan reports. */
  static constexpr int64_t kMost = INT32_MAX;

  void grow(int64_t count) {
    if (length_ + count > kMost) throw std::length_error("A text of the scan unfolds to more than 2 GB.");
    int64_t wanted = capacity_ == 0 ? 1024 : capacity_ * 2;
    if (wanted < length_ + count) wanted = length_ + count;
    void* moved = std::realloc(data_, static_cast<size_t>(wanted) * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = wanted;
  }

  T* data_ = nullptr;
  int64_t length_ = 0, capacity_ = 0;
};

}  // namespace tackroom::scan
