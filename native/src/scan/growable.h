/** Arrays that grow; contents may move, so hold offsets and not pointers. Unlike std::vector they fill no new room. */
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace tackroom::scan {

/** Behind the room that was asked for lies more, so that whole vectors may be read and written past the end. */
constexpr size_t kSlack = 128;

template <class T>
class Growable {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Growable() = default;
  Growable(const Growable&) = delete;
  Growable& operator=(const Growable&) = delete;
  ~Growable() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  T& back() { return data_[length - 1]; }

  /** Makes room for `count` more. */
  void reserve(size_t count) {
    if (length + count > room_) grow(length + count);
  }
  void push(const T& value) {
    if (length == room_) grow(length + 1);
    data_[length++] = value;
  }

  size_t length = 0;

 private:
  __attribute__((noinline)) void grow(size_t needed) {
    size_t room = room_ * 2 > needed ? room_ * 2 : needed;
    if (room < 1024) room = 1024;
    auto* data = static_cast<T*>(std::realloc(static_cast<void*>(data_), room * sizeof(T) + kSlack));
    if (data == nullptr) throw std::bad_alloc();
    std::memset(static_cast<void*>(data + room), 0, kSlack);
    data_ = data;
    room_ = room;
  }

  T* data_ = nullptr;
  size_t room_ = 0;
};

using Bytes = Growable<uint8_t>;

/** A number that may lie anywhere. */
template <class T>
T load_as(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/** A part of a buffer that can be read up to `readable`, which lies at or after its end. */
struct Text {
  const uint8_t* begin;
  const uint8_t* end;
  const uint8_t* readable;
};

}  // namespace tackroom::scan
