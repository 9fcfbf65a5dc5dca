#include "napi_values.h"

#include <cmath>
#include <cstring>
#include <new>

namespace tackroom {
namespace {

template <class Element>
std::vector<Element> elements_of(const Napi::Value& value, const char* what, napi_typedarray_type type, const char* type_name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) fail("BAD_ARGUMENT", "%s must be a %s.", what, type_name);
  const auto array = value.As<Napi::TypedArrayOf<Element>>();
  return std::vector<Element>(array.Data(), array.Data() + array.ElementLength());
}

Napi::Error js_error(Napi::Env env, const char* code, const char* message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error;
}

}  // namespace

Napi::Error to_js_error(Napi::Env env, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Napi::Error& raised) {
    return raised;
  } catch (const EngineError& known) {
    return js_error(env, known.code, known.what());
  } catch (const std::bad_alloc&) {
    return js_error(env, "OUT_OF_MEMORY", "The engine ran out of memory.");
  } catch (const std::exception& unknown) {
    return js_error(env, "IO", unknown.what());
  }
}

std::string text_of(const Napi::Value& value, const char* what) {
  if (!value.IsString()) fail("BAD_ARGUMENT", "%s must be a string.", what);
  return value.As<Napi::String>().Utf8Value();
}

std::vector<std::string> texts_of(const Napi::Value& value, const char* what) {
  std::vector<std::string> texts;
  if (value.IsUndefined() || value.IsNull()) return texts;
  if (!value.IsArray()) fail("BAD_ARGUMENT", "%s must be an array.", what);
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); i++) texts.push_back(text_of(array.Get(i), what));
  return texts;
}

double number_of(const Napi::Value& value, const char* what) {
  if (!value.IsNumber()) fail("BAD_ARGUMENT", "%s must be a number.", what);
  return value.As<Napi::Number>().DoubleValue();
}

int integer_of(const Napi::Value& value, const char* what, int lowest, int highest) {
  const double number = number_of(value, what);
  if (!(number >= lowest && number <= highest) || number != std::floor(number))
    fail("BAD_ARGUMENT", "%s must be a whole number between %d and %d.", what, lowest, highest);
  return static_cast<int>(number);
}

uint64_t seed_of(const Napi::Value& value, const char* what) {
  const double number = number_of(value, what);
  if (!(number >= 0 && number <= 9007199254740991.0) || number != std::floor(number)) fail("BAD_ARGUMENT", "%s must be a whole number of at most 53 bits.", what);
  return static_cast<uint64_t>(number);
}

std::vector<int> ids_of(const Napi::Value& value, const char* what) { return elements_of<int32_t>(value, what, napi_int32_array, "Int32Array"); }
std::vector<float> floats_of(const Napi::Value& value, const char* what) { return elements_of<float>(value, what, napi_float32_array, "Float32Array"); }
std::vector<uint32_t> words_of(const Napi::Value& value, const char* what) { return elements_of<uint32_t>(value, what, napi_uint32_array, "Uint32Array"); }
std::vector<uint8_t> bytes_of(const Napi::Value& value, const char* what) { return elements_of<uint8_t>(value, what, napi_uint8_array, "Uint8Array"); }

Napi::Object options_of(Napi::Env env, const Napi::Value& value, const char* what) {
  if (value.IsUndefined() || value.IsNull()) return Napi::Object::New(env);
  if (!value.IsObject()) fail("BAD_ARGUMENT", "%s must be an object.", what);
  return value.As<Napi::Object>();
}

double option_number(const Napi::Object& options, const char* key, double fallback) {
  const Napi::Value value = options.Get(key);
  return value.IsUndefined() ? fallback : number_of(value, key);
}

Napi::Float32Array to_float_array(Napi::Env env, const float* values, size_t count) {
  Napi::Float32Array array = Napi::Float32Array::New(env, count);
  if (count != 0) std::memcpy(array.Data(), values, count * sizeof(float));
  return array;
}

}  // namespace tackroom
