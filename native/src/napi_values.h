/** Conversions between JavaScript values and the engine's types, and of engine errors into JavaScript errors. */
#pragma once
#include <napi.h>

#include <exception>
#include <string>
#include <vector>

#include "error.h"

namespace tackroom {

/** An Error with `code`, for the exception in flight or a stored one. */
Napi::Error to_js_error(Napi::Env env, const std::exception_ptr& error);

/** Runs body() and turns engine errors into JavaScript exceptions. */
template <class Body>
auto guarded(Napi::Env env, Body body) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js_error(env, std::current_exception());
  }
}

/** Readers of arguments; each throws BAD_ARGUMENT naming `what` when the value has another type. */
std::string text_of(const Napi::Value& value, const char* what);
/** An array of strings; empty where it is absent. */
std::vector<std::string> texts_of(const Napi::Value& value, const char* what);
double number_of(const Napi::Value& value, const char* what);
int integer_of(const Napi::Value& value, const char* what, int lowest, int highest);
uint64_t seed_of(const Napi::Value& value, const char* what);
std::vector<int> ids_of(const Napi::Value& value, const char* what);
std::vector<float> floats_of(const Napi::Value& value, const char* what);
std::vector<uint32_t> words_of(const Napi::Value& value, const char* what);
std::vector<uint8_t> bytes_of(const Napi::Value& value, const char* what);
/** The object `value`, or an empty one when it is undefined or null. */
Napi::Object options_of(Napi::Env env, const Napi::Value& value, const char* what);
/** options[key] as a number, or `fallback` when absent. */
double option_number(const Napi::Object& options, const char* key, double fallback);

Napi::Float32Array to_float_array(Napi::Env env, const float* values, size_t count);

}  // namespace tackroom
