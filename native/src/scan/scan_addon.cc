/** Registration of the scanner's addon (native/scan-addon.ts): one class. */
#include <napi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "needles.h"
#include "scanner.h"
#include "splice.h"
#include "vector_search.h"

namespace tackroom::scan {
namespace {

/** What the scanners of one environment share: the anchors that were built last, as nearly always all have the same. */
struct AddonData {
  std::shared_ptr<const Anchors> anchors;
};

template <class T>
std::vector<T> numbers_of(const Napi::Object& object, const char* name, napi_typedarray_type type) {
  const Napi::Value value = object.Get(name);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    throw Napi::TypeError::New(object.Env(), std::string("The table \"") + name + "\" is missing or of another type.");
  const auto array = value.As<Napi::TypedArrayOf<T>>();
  return std::vector<T>(array.Data(), array.Data() + array.ElementLength());
}

std::shared_ptr<const Anchors> anchors_of(Napi::Env env, const Napi::Object& tables) {
  AnchorTables read;
  read.lengths = numbers_of<uint8_t>(tables, "lengths", napi_uint8_array);
  read.flags = numbers_of<uint8_t>(tables, "flags", napi_uint8_array);
  read.literals = numbers_of<uint8_t>(tables, "literals", napi_uint8_array);
  read.literal_start = numbers_of<int32_t>(tables, "literalStart", napi_int32_array);
  auto& last = env.GetInstanceData<AddonData>()->anchors;
  if (!last || !(last->tables == read)) last = std::make_shared<const Anchors>(std::move(read));
  return last;
}

std::unique_ptr<KnownValues> known_of(const Napi::Object& tables) {
  KnownTables read;
  read.bytes = numbers_of<uint8_t>(tables, "bytes", napi_uint8_array);
  read.bounded = numbers_of<uint8_t>(tables, "bounded", napi_uint8_array);
  read.starts = numbers_of<int32_t>(tables, "starts", napi_int32_array);
  read.offsets = numbers_of<int32_t>(tables, "offsets", napi_int32_array);
  return std::make_unique<KnownValues>(std::move(read));
}

/** A typed array that is filled anew for every result and made anew when it is too short. */
template <class T>
class Output {
 public:
  Napi::Value fill(Napi::Env env, const void* data, size_t bytes) {
    // Asked every time: the sink may have passed the memory on to another thread.
    if (room() <= bytes) {
      const size_t count = std::max(bytes / sizeof(T) + 1, room() / sizeof(T) * 2);
      array_ = Napi::Persistent(Napi::TypedArrayOf<T>::New(env, count).template As<Napi::Object>());
    }
    auto array = array_.Value().template As<Napi::TypedArrayOf<T>>();
    if (bytes > 0) std::memcpy(array.Data(), data, bytes);
    return array;
  }

 private:
  size_t room() { return array_.IsEmpty() ? 0 : array_.Value().template As<Napi::TypedArrayOf<T>>().ByteLength(); }
  Napi::ObjectReference array_;
};

class ByteScanner : public Napi::ObjectWrap<ByteScanner> {
 public:
  static Napi::Function define(Napi::Env env) { return DefineClass(env, "ByteScanner", {InstanceMethod("scan", &ByteScanner::scan), InstanceMethod("close", &ByteScanner::close), InstanceMethod("remember", &ByteScanner::remember)}); }

  explicit ByteScanner(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const Napi::Env env = info.Env();
    const Napi::Value known = info[1];
    if (!info[0].IsObject() || !(known.IsNull() || known.IsObject())) throw Napi::TypeError::New(env, "A scanner is made of tables and known values or null.");
    try {
      if (known.IsNull()) scanner_ = std::make_unique<Scanner>(anchors_of(env, info[0].As<Napi::Object>()), nullptr);
      else scanner_ = std::make_unique<Scanner>(nullptr, known_of(known.As<Napi::Object>()));
    } catch (const Napi::Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Napi::Error::New(env, error.what());
    }
  }

 private:
  struct Busy {
    explicit Busy(bool& set) : flag(set) { flag = true; }
    ~Busy() { flag = false; }
    bool& flag;
  };

  /** Gives the memory back at once: sessions are many, and the collector does not see what a scanner holds. */
  void close(const Napi::CallbackInfo& info) {
    if (scanning_) throw Napi::Error::New(info.Env(), "A scanner cannot be closed inside its own sink.");
    scanner_.reset();
  }

  /** Takes the states of strings, or null. */
  void remember(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (scanning_ || !scanner_) throw Napi::Error::New(env, "A scanner that is closed or scans cannot be told what to remember.");
    const bool off = info[0].IsNull();
    if (!off && (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array))
      throw Napi::TypeError::New(env, "A scanner remembers in bytes.");
    scanner_->remember(nullptr, 0);
    states_.Reset();
    states_length_ = 0;
    if (!off) states_ = Napi::Persistent(info[0].As<Napi::Object>());
  }

  /** Asked for anew whenever other code ran: the memory may have been taken away. */
  void point_to_states(Napi::Env env) {
    if (states_.IsEmpty()) return;
    auto states = states_.Value().As<Napi::Uint8Array>();
    if (states_length_ == 0) states_length_ = states.ByteLength();
    if (states.ByteLength() == 0 || states.ByteLength() != states_length_) throw Napi::Error::New(env, "The states of strings were taken away.");
    scanner_->remember(states.Data(), states_length_);
  }

  Napi::Value scan(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (scanning_) throw Napi::Error::New(env, "A scanner cannot be used inside its own sink.");
    if (!scanner_) throw Napi::Error::New(env, "The scanner is closed.");
    if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array || !info[3].IsFunction())
      throw Napi::TypeError::New(env, "A scan takes bytes and a function.");
    const auto input = info[0].As<Napi::Uint8Array>();
    const uint8_t* const data = input.Data();
    const size_t size = input.ByteLength();
    const double from = number_of(info[1]), to = number_of(info[2]);
    if (size > INT32_MAX || !(from >= 0 && from <= to && to <= static_cast<double>(size)) || from != std::floor(from) || to != std::floor(to))
      throw Napi::RangeError::New(env, "The part to scan does not lie within the bytes, or they are too many.");
    const auto sink = info[3].As<Napi::Function>();
    const Busy busy(scanning_);
    point_to_states(env);
    try {
      scanner_->scan(data, size, static_cast<size_t>(from), static_cast<size_t>(to), [&](const ScanResult& result) {
        const Napi::HandleScope scope(env);
        sink.Call({hand_over(env, result)});
        // The sink is any code: it may have taken the input's memory away.
        const auto now = info[0].As<Napi::Uint8Array>();
        if (now.Data() != data || now.ByteLength() != size) throw Napi::Error::New(env, "The input was taken away while it was scanned.");
        point_to_states(env);
      });
    } catch (const Napi::Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Napi::Error::New(env, error.what());
    }
    return env.Undefined();
  }

  static double number_of(const Napi::Value& value) { return value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1; }

  Napi::Object hand_over(Napi::Env env, const ScanResult& from) {
    Napi::Object result = Napi::Object::New(env);
    result.Set("leaves", leaves_.fill(env, from.leaves.data(), from.leaves.length * sizeof(Leaf)));
    result.Set("leafCount", static_cast<double>(from.leaves.length));
    result.Set("candidates", candidates_.fill(env, from.candidates.data(), from.candidates.length * sizeof(Candidate)));
    result.Set("maps", maps_.fill(env, from.maps.data(), from.maps.length * sizeof(Breakpoint)));
    result.Set("arena", arena_.fill(env, from.arena.data(), from.arena.length));
    result.Set("seen", seen_.fill(env, from.seen.data(), from.seen.length * sizeof(SeenString)));
    result.Set("seenCount", static_cast<double>(from.seen.length));
    return result;
  }

  std::unique_ptr<Scanner> scanner_;
  bool scanning_ = false;
  Output<int32_t> leaves_, candidates_, maps_, seen_;
  Napi::ObjectReference states_;
  size_t states_length_ = 0;
  Output<uint8_t> arena_;
};

template <class T>
Napi::TypedArrayOf<T> array_of(const Napi::Value& value, napi_typedarray_type type) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) throw Napi::TypeError::New(value.Env(), "An array is missing or of another type.");
  return value.As<Napi::TypedArrayOf<T>>();
}

class NeedleSearch : public Napi::ObjectWrap<NeedleSearch> {
 public:
  static Napi::Function define(Napi::Env env) { return DefineClass(env, "Needles", {InstanceMethod("add", &NeedleSearch::add), InstanceMethod("find", &NeedleSearch::find), InstanceMethod("close", &NeedleSearch::close)}); }
  explicit NeedleSearch(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  /** add(texts, where they end): as many as there are ends. */
  void add(const Napi::CallbackInfo& info) {
    const auto texts = array_of<uint8_t>(info[0], napi_uint8_array);
    const auto ends = array_of<int32_t>(info[1], napi_int32_array);
    if (!needles_) throw Napi::Error::New(info.Env(), "The search is closed.");
    size_t from = 0;
    for (size_t i = 0; i < ends.ElementLength(); i++) {
      const auto end = static_cast<size_t>(ends.Data()[i]);
      if (ends.Data()[i] < 0 || end < from || end > texts.ByteLength() || !needles_->add(texts.Data() + from, end - from))
        throw Napi::RangeError::New(info.Env(), "A text to look for is too short, or they are too many.");
      from = end;
    }
  }

  /** find(bytes): for every place of a text where it begins and ends, and its number. */
  Napi::Value find(const Napi::CallbackInfo& info) {
    const auto bytes = array_of<uint8_t>(info[0], napi_uint8_array);
    if (bytes.ByteLength() > INT32_MAX) throw Napi::RangeError::New(info.Env(), "These are too many bytes.");
    if (!needles_) throw Napi::Error::New(info.Env(), "The search is closed.");
    found_.length = 0;
    needles_->find(bytes.Data(), bytes.ByteLength(), found_);
    auto result = Napi::Int32Array::New(info.Env(), found_.length * 3);
    if (found_.length > 0) std::memcpy(result.Data(), found_.data(), found_.length * sizeof(NeedleFound));
    return result;
  }

  /** Gives the memory back at once: the collector does not see it. */
  void close(const Napi::CallbackInfo&) { needles_.reset(); }

  std::unique_ptr<Needles> needles_ = std::make_unique<Needles>();
  Growable<NeedleFound> found_;
};

/** splice(input, from, to, ranges, stand-ins, where they begin, out): fills `out`. */
void splice_bytes(const Napi::CallbackInfo& info) {
  const auto input = array_of<uint8_t>(info[0], napi_uint8_array), bytes = array_of<uint8_t>(info[4], napi_uint8_array);
  auto out = array_of<uint8_t>(info[6], napi_uint8_array);
  const auto ranges = array_of<int32_t>(info[3], napi_int32_array), starts = array_of<int32_t>(info[5], napi_int32_array);
  const double from = info[1].ToNumber().DoubleValue(), to = info[2].ToNumber().DoubleValue();
  const size_t count = starts.ElementLength() == 0 ? 0 : starts.ElementLength() - 1;
  bool ok = from >= 0 && from <= to && to <= static_cast<double>(input.ByteLength()) && starts.ElementLength() > 0 && starts.Data()[0] == 0;
  for (size_t i = 0; ok && i < count; i++) ok = starts.Data()[i] <= starts.Data()[i + 1];
  ok = ok && static_cast<size_t>(starts.Data()[count]) <= bytes.ByteLength();
  ok = ok && splice(input.Data(), static_cast<size_t>(from), static_cast<size_t>(to), reinterpret_cast<const SpliceRange*>(ranges.Data()),
                    ranges.ElementLength() / 4, {bytes.Data(), starts.Data(), count}, out.Data(), out.ByteLength());
  if (!ok) throw Napi::RangeError::New(info.Env(), "The ranges do not fit the bytes.");
}

/** holdsName(bytes, from, to, names, where they end): whether one of them stands before a quote. */
Napi::Value holds_name(const Napi::CallbackInfo& info) {
  const auto input = array_of<uint8_t>(info[0], napi_uint8_array), names = array_of<uint8_t>(info[3], napi_uint8_array);
  const auto ends = array_of<int32_t>(info[4], napi_int32_array);
  const double from = info[1].ToNumber().DoubleValue(), to = info[2].ToNumber().DoubleValue();
  if (!(from >= 0 && from <= to && to <= static_cast<double>(input.ByteLength()))) throw Napi::RangeError::New(info.Env(), "The part does not lie within the bytes.");
  struct Name {
    const uint8_t* text;
    size_t length;
  };
  std::vector<Name> list;
  std::array<bool, 256> last{};
  int32_t start = 0;
  for (size_t i = 0; i < ends.ElementLength(); i++) {
    const int32_t end = ends.Data()[i];
    if (end <= start || static_cast<size_t>(end) > names.ByteLength()) throw Napi::RangeError::New(info.Env(), "A name is empty or lies outside.");
    list.push_back({names.Data() + start, static_cast<size_t>(end - start)});
    last[names.Data()[end - 1]] = true;
    start = end;
  }
  const uint8_t *const first = input.Data() + static_cast<size_t>(from), *const stop = input.Data() + static_cast<size_t>(to);
  const auto stands = [&](const uint8_t* quote) {
    if (quote == first || !last[quote[-1]]) return false;
    return std::any_of(list.begin(), list.end(), [&](const Name& name) {
      return name.length <= static_cast<size_t>(quote - first) && std::memcmp(quote - name.length, name.text, name.length) == 0;
    });
  };
  const uint8_t* at = first;
  bool found = false;
  for (; !found && stop - at >= 16; at += 16)
    for (auto quotes = static_cast<uint32_t>(_mm_movemask_epi8(equal(load(at), '"'))); quotes != 0; quotes &= quotes - 1) found = found || stands(at + __builtin_ctz(quotes));
  for (; !found && at < stop; at++) found = *at == '"' && stands(at);
  return Napi::Boolean::New(info.Env(), found);
}

/** count(bytes, byte) */
Napi::Value count_byte(const Napi::CallbackInfo& info) {
  const auto bytes = array_of<uint8_t>(info[0], napi_uint8_array);
  const auto byte = static_cast<uint8_t>(info[1].ToNumber().Uint32Value());
  const uint8_t *at = bytes.Data(), *const end = at + bytes.ByteLength();
  int64_t count = 0;
  for (; end - at >= 16; at += 16) count += __builtin_popcount(static_cast<uint32_t>(_mm_movemask_epi8(equal(load(at), static_cast<char>(byte)))));
  count += std::count(at, end, byte);
  return Napi::Number::New(info.Env(), static_cast<double>(count));
}

/** indexOf(bytes, from, to, wanted): where they first stand in whole; -1: nowhere. */
Napi::Value index_of(const Napi::CallbackInfo& info) {
  const auto input = array_of<uint8_t>(info[0], napi_uint8_array), wanted = array_of<uint8_t>(info[3], napi_uint8_array);
  const double from = info[1].ToNumber().DoubleValue(), to = info[2].ToNumber().DoubleValue();
  if (!(from >= 0 && from <= to && to <= static_cast<double>(input.ByteLength()))) throw Napi::RangeError::New(info.Env(), "The part does not lie within the bytes.");
  const uint8_t *first = input.Data() + static_cast<size_t>(from), *last = input.Data() + static_cast<size_t>(to);
#ifdef __GLIBC__
  const void* at = memmem(first, static_cast<size_t>(last - first), wanted.Data(), wanted.ByteLength());
  const uint8_t* found = at == nullptr ? last : static_cast<const uint8_t*>(at);
#else
  const uint8_t* found = std::search(first, last, wanted.Data(), wanted.Data() + wanted.ByteLength());
#endif
  return Napi::Number::New(info.Env(), found == last ? -1.0 : static_cast<double>(found - input.Data()));
}

/**
 * pairWindows(bytes, places, windows): where windows of three bytes begin that may be wanted. Letters count as small. `places` says of a
 * pair of bytes whether it begins one (1) or ends one (2), `windows` says it of the hash of all three.
 */
Napi::Value pair_windows(const Napi::CallbackInfo& info) {
  const auto bytes = array_of<uint8_t>(info[0], napi_uint8_array);
  const auto places = array_of<uint8_t>(info[1], napi_uint8_array), windows = array_of<uint8_t>(info[2], napi_uint8_array);
  if (places.ByteLength() != 1 << 16 || windows.ByteLength() != 1 << 16 || bytes.ByteLength() > INT32_MAX) throw Napi::RangeError::New(info.Env(), "The tables do not belong together.");
  const uint8_t *const data = bytes.Data(), *const of_pair = places.Data(), *const of_window = windows.Data();
  const size_t length = bytes.ByteLength();
  Growable<int32_t> found;
  const auto look = [&](size_t from) {
    if (from + 3 > length) return;
    const uint32_t window = (data[from] | 32u) << 16 | (data[from + 1] | 32u) << 8 | (data[from + 2] | 32u);
    if (of_window[window * 0x9e3779b1u >> 16] != 0) found.push(static_cast<int32_t>(from));
  };
  // Of the two pairs in a window one is read.
  for (size_t i = 1; i < length; i += 2) {
    const uint8_t place = of_pair[(data[i - 1] | 32u) << 8 | (data[i] | 32u)];
    if (place == 0) continue;
    if ((place & 2) != 0 && i >= 2) look(i - 2);
    if ((place & 1) != 0) look(i - 1);
  }
  auto result = Napi::Int32Array::New(info.Env(), found.length);
  if (found.length > 0) std::memcpy(result.Data(), found.data(), found.length * sizeof(int32_t));
  return result;
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new AddonData());
  exports.Set("ByteScanner", ByteScanner::define(env));
  exports.Set("Needles", NeedleSearch::define(env));
  exports.Set("splice", Napi::Function::New(env, splice_bytes));
  exports.Set("pairWindows", Napi::Function::New(env, pair_windows));
  exports.Set("holdsName", Napi::Function::New(env, holds_name));
  exports.Set("count", Napi::Function::New(env, count_byte));
  exports.Set("indexOf", Napi::Function::New(env, index_of));
  return exports;
}

}  // namespace
}  // namespace tackroom::scan

static Napi::Object register_addon(Napi::Env env, Napi::Object exports) { return tackroom::scan::initialise(env, exports); }
NODE_API_MODULE(scan, register_addon)
