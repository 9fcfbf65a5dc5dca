/** The addon build/native/scan.node: the class ByteScanner of native/scan-addon.ts. */
#include <napi.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "layout.h"
#include "scanner.h"

namespace tackroom::scan {
namespace {

/** An ArrayBuffer that is filled anew for every result: Electron allows none over memory of its own. */
class Handed {
 public:
  Napi::ArrayBuffer fill(Napi::Env env, const void* bytes, size_t size) {
    Napi::ArrayBuffer buffer;
    if (!held_.IsEmpty()) buffer = held_.Value().As<Napi::ArrayBuffer>();
    // The length of one that was transferred away is 0.
    if (buffer.IsEmpty() || buffer.ByteLength() < std::max<size_t>(size, 1)) {
      buffer = Napi::ArrayBuffer::New(env, std::max<size_t>(size + size / 2, 1 << 16) & ~size_t{7});
      held_ = Napi::Persistent(buffer.As<Napi::Object>());
    }
    if (size > 0) std::memcpy(buffer.Data(), bytes, size);
    return buffer;
  }

 private:
  Napi::ObjectReference held_;
};

template <class Array>
Array array_of(const Napi::Value& value, napi_typedarray_type type, const char* what) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    throw Napi::TypeError::New(value.Env(), std::string(what) + " is an array of another type.");
  return value.As<Array>();
}

std::vector<uint8_t> bytes_of(const Napi::Object& from, const char* name) {
  const auto array = array_of<Napi::Uint8Array>(from.Get(name), napi_uint8_array, name);
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<int32_t> ints_of(const Napi::Object& from, const char* name) {
  const auto array = array_of<Napi::Int32Array>(from.Get(name), napi_int32_array, name);
  return {array.Data(), array.Data() + array.ElementLength()};
}

AnchorTables tables_of(const Napi::Object& from) {
  AnchorTables tables;
  tables.classes = bytes_of(from, "classes");
  tables.lengths = bytes_of(from, "lengths");
  tables.flags = bytes_of(from, "flags");
  tables.literals = bytes_of(from, "literals");
  const auto next = array_of<Napi::Uint16Array>(from.Get("next"), napi_uint16_array, "next");
  tables.next.assign(next.Data(), next.Data() + next.ElementLength());
  tables.output_start = ints_of(from, "outputStart");
  tables.outputs = ints_of(from, "outputs");
  tables.literal_start = ints_of(from, "literalStart");
  tables.columns = from.Get("columns").ToNumber().Int32Value();
  return tables;
}

std::unique_ptr<KnownValues> known_of(const Napi::Value& value) {
  if (value.IsNull() || value.IsUndefined()) return nullptr;
  const Napi::Object from = value.ToObject();
  KnownTables tables;
  tables.bytes = bytes_of(from, "bytes");
  tables.bounded = bytes_of(from, "bounded");
  tables.starts = ints_of(from, "starts");
  tables.pieces = ints_of(from, "pieces");
  tables.offsets = ints_of(from, "offsets");
  return std::make_unique<KnownValues>(std::move(tables));
}

class ByteScanner : public Napi::ObjectWrap<ByteScanner> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "ByteScanner", {InstanceMethod("scan", &ByteScanner::scan)});
  }

  explicit ByteScanner(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    try {
      scanner_ = std::make_unique<Scanner>(tables_of(info[0].ToObject()), known_of(info[1]));
    } catch (const Napi::Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Napi::Error::New(info.Env(), error.what());
    }
  }

 private:
  /** Hands results to a JavaScript function, and makes sure that the input is still there after it. */
  class FunctionSink : public ScanSink {
   public:
    FunctionSink(ByteScanner& owner, Napi::Uint8Array input, Napi::Function function)
        : owner_(owner), input_(input), function_(function), data_(input.Data()), length_(input.ElementLength()) {}

    void take(const ScanResult& r) override {
      const Napi::Env env = function_.Env();
      const Napi::HandleScope scope(env);
      Napi::Object result = Napi::Object::New(env);
      const auto ints = [&](const char* name, Handed& handed, const int32_t* numbers, int64_t count) {
        const auto size = static_cast<size_t>(count);
        result.Set(name, Napi::Int32Array::New(env, size, handed.fill(env, numbers, size * sizeof(int32_t)), 0));
      };
      ints("leaves", owner_.leaves_, r.leaves, r.leaf_numbers);
      ints("candidates", owner_.candidates_, r.candidates, r.candidate_numbers);
      ints("maps", owner_.maps_, r.maps, r.map_numbers);
      const auto size = static_cast<size_t>(r.arena_bytes);
      result.Set("arena", Napi::Uint8Array::New(env, size, owner_.arena_.fill(env, r.arena, size), 0));
      result.Set("leafCount", static_cast<double>(r.leaf_numbers / kFields));
      function_.Call({result});
      // The handle of the array caches its length: ask anew.
      void* data = nullptr;
      size_t length = 0;
      if (napi_get_typedarray_info(env, input_, nullptr, &length, &data, nullptr, nullptr) != napi_ok || data != data_ || length != length_)
        throw std::runtime_error("The input was taken away while it was scanned.");
    }

   private:
    ByteScanner& owner_;
    Napi::Uint8Array input_;
    Napi::Function function_;
    const void* data_;
    size_t length_;
  };

  void scan(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto input = array_of<Napi::Uint8Array>(info[0], napi_uint8_array, "The input");
    const int64_t from = info[1].ToNumber().Int64Value(), to = info[2].ToNumber().Int64Value();
    if (!info[3].IsFunction()) throw Napi::TypeError::New(env, "The sink is not a function.");
    if (from < 0 || to > static_cast<int64_t>(input.ElementLength()) || to > INT32_MAX)
      throw Napi::RangeError::New(env, "What should be scanned is not within the input, or is beyond 2 GB.");
    if (busy_) throw Napi::Error::New(env, "A scanner cannot be used inside its own sink.");
    busy_ = true;
    try {
      FunctionSink sink(*this, input, info[3].As<Napi::Function>());
      scanner_->scan(input.Data(), from, to, sink);
      busy_ = false;
    } catch (const Napi::Error&) {
      busy_ = false;
      throw;
    } catch (const std::exception& error) {
      busy_ = false;
      throw Napi::Error::New(env, error.what());
    }
  }

  std::unique_ptr<Scanner> scanner_;
  Handed leaves_, candidates_, maps_, arena_;
  bool busy_ = false;
};

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports.Set("ByteScanner", ByteScanner::define(env));
  return exports;
}

}  // namespace
}  // namespace tackroom::scan

static Napi::Object register_addon(Napi::Env env, Napi::Object exports) { return tackroom::scan::initialise(env, exports); }
NODE_API_MODULE(scan, register_addon)
