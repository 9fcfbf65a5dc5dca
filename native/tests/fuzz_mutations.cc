#include "fuzz_mutations.h"

#include <cstring>

namespace tackroom {
namespace {

size_t below(Random& random, size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random() % limit); }

/** Mostly near the front, where the tables are. */
size_t place(Random& random, size_t size) { return below(random, random() % 4 != 0 ? std::min<size_t>(size, 2048) : size); }

void flip(std::string& text, Random& random) {
  for (size_t n = 1 + below(random, 8); n > 0 && !text.empty(); n--) {
    char& c = text[place(random, text.size())];
    c = random() % 2 == 0 ? static_cast<char>(c ^ 1 << random() % 8) : static_cast<char>(random());
  }
}

void cut(std::string& text, Random& random) {
  if (random() % 4 == 0) text.append(below(random, 200), static_cast<char>(random()));
  else text.resize(random() % 2 == 0 ? place(random, text.size() + 1) : text.size() - below(random, std::min<size_t>(text.size() + 1, 100)));
}

void splice(std::string& text, const std::string& source, Random& random) {
  const size_t from = place(random, source.size()), count = below(random, std::min<size_t>(source.size() - from + 1, 400));
  const std::string piece = source.substr(from, count);
  const size_t at = place(random, text.size() + 1);
  if (random() % 2 == 0) text.insert(at, piece);
  else text.replace(at, std::min(count, text.size() - at), piece);
}

uint64_t tempting_number(size_t size, Random& random) {
  const uint64_t numbers[] = {0, 1, 2, 7, 8, 31, 33, 255, 256, 65535, 65536, (1u << 20) + 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, uint64_t{1} << 32, (uint64_t{1} << 32) + 1,
                              uint64_t{1} << 48, uint64_t{1} << 60, uint64_t{1} << 61, (uint64_t{1} << 62) + 1, INT64_MAX, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7,
                              size, size - 1, size + 1, size / 2, size / 8, size * 8, random() % 64, random() % 4096, random()};
  return numbers[below(random, std::size(numbers))];
}

void lie(std::string& text, const std::vector<LengthField>& fields, Random& random) {
  LengthField field{place(random, text.size()), random() % 2 == 0 ? 4 : 8};
  if (!fields.empty() && random() % 8 != 0) field = fields[below(random, fields.size())];
  if (field.at + static_cast<size_t>(field.width) > text.size()) return;
  uint64_t value = tempting_number(text.size(), random);
  if (random() % 4 == 0) {  // a little beside the truth
    value = 0;
    std::memcpy(&value, &text[field.at], static_cast<size_t>(field.width));
    value += random() % 9 - 4;
  }
  std::memcpy(&text[field.at], &value, static_cast<size_t>(field.width));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void change_number(std::string& json, Random& random) {
  size_t at = below(random, json.size() + 1);
  while (at < json.size() && !is_digit(json[at])) at++;
  size_t end = at;
  while (end < json.size() && is_digit(json[end])) end++;
  if (at == json.size()) return;
  const std::string numbers[] = {"-1", "0", "1e308", "1e999", "-0", "0.5", "1e12", "999999999999", "9007199254740993", "18446744073709551616", "1e-320", "+3",
                                 "00", "true", "null", "\"2\"", "[]", "{}", "0x10", std::string(2000, '9'), std::to_string(tempting_number(json.size(), random)),
                                 std::to_string(random() % 64)};
  json.replace(at, end - at, numbers[below(random, std::size(numbers))]);
}

void nest(std::string& json, Random& random) {
  const size_t depth = random() % 16 == 0 ? 200000 : 1 + below(random, 200);
  std::string deep;
  const bool objects = random() % 2 == 0;
  for (size_t i = 0; i < depth; i++) deep += objects ? "{\"a\":" : "[";
  deep += "1";
  for (size_t i = 0; i < depth && random() % 64 != 0; i++) deep += objects ? "}" : "]";
  const size_t colon = json.find(':', below(random, json.size() + 1));
  if (colon != std::string::npos) json.insert(colon + 1, deep + ",\"z\":");
}

/** Member names, escapes and lists that grow beyond all measure. */
void grow(std::string& json, Random& random) {
  std::string piece;
  const size_t count = random() % 32 == 0 ? 100000 : 1 + below(random, 300);
  switch (random() % 5) {
    case 0: for (size_t i = 0; i < count; i++) piece += "\"k" + std::to_string(i) + "\":1,"; break;
    case 1: for (size_t i = 0; i < std::min<size_t>(count, 100); i++) piece += "\"same\":[],"; break;
    case 2: piece = "\"ones\":[1"; for (size_t i = 0; i < count; i++) piece += ",1"; piece += "],"; break;
    case 3: piece = "\"esc\":\"" + std::string(random() % 2 == 0 ? "\\ud800" : "\\ud83d\\u0041") + "\\u0000\",\"\\q\":1,"; break;
    default:
      for (size_t i = 0; i < count; i++) {
        const std::string at = std::to_string(i * 4);
        piece += "\"t" + std::to_string(i) + "\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[" + at + "," + std::to_string(i * 4 + 4) + "]},";
      }
  }
  const size_t brace = json.find('{');
  if (brace != std::string::npos) json.insert(brace + 1, piece);
}

void change_json(std::string& json, Random& random) {
  switch (random() % 6) {
    case 0:
    case 1:
    case 2: return change_number(json, random);
    case 3: return nest(json, random);
    case 4: return grow(json, random);
    default: return flip(json, random);
  }
}

/** The JSON of a safetensors file, its length kept true so that the parser gets to see it. */
void change_header(std::string& file, Random& random) {
  uint64_t length = 0;
  if (file.size() < 8) return;
  std::memcpy(&length, file.data(), 8);
  if (length > file.size() - 8) return;
  std::string json = file.substr(8, length);
  change_json(json, random);
  const uint64_t changed = json.size();
  file.replace(8, length, json);
  std::memcpy(file.data(), &changed, 8);
}

/** As many table entries as a file of its size can hold: nothing may take time or memory out of proportion. */
std::string crowded_gguf(Random& random) {
  GgufBuilder file;
  file.text("general.architecture", "llama").u32("llama.block_count", 1024).u32("llama.embedding_length", 1).u32("llama.attention.head_count", 1);
  file.u32("llama.feed_forward_length", 1).u32("llama.context_length", 1).u32("general.alignment", 1);
  const size_t count = 1 + below(random, 60000);
  if (random() % 2 == 0)
    for (size_t i = 0; i < count; i++) file.flag(std::to_string(i), true);
  file.tensor("token_embd.weight", {1, 1}, TensorType::F32, "1234");
  for (size_t i = 0; i < count / 8; i++) file.tensor("blk." + std::to_string(i % 1024) + ".attn_" + "qkv"[i / 1024 % 3] + (i / 3072 % 2 == 0 ? ".weight" : ".bias"), {1}, TensorType::F16, "12");
  return file.build(3, 1);
}

void mutate_once(std::string& text, const std::string& other, const std::vector<LengthField>& fields, bool json, bool safetensors, Random& random) {
  const auto choice = random() % 8;
  if (json && choice < 5) return change_json(text, random);
  if (safetensors && choice < 5) return change_header(text, random);
  switch (random() % 6) {
    case 0: return flip(text, random);
    case 1: return cut(text, random);
    case 2: return splice(text, random() % 2 == 0 ? text : other, random);
    default: return lie(text, fields, random);
  }
}

}  // namespace

void mutate(FuzzInput& input, const FuzzInput& other, FuzzKind kind, Random& random) {
  if (random() % 400 == 0 && kind == FuzzKind::Gguf) {
    input.files["input.gguf"] = crowded_gguf(random);
    return;
  }
  for (size_t n = 1 + below(random, 4); n > 0; n--) {
    auto file = std::next(input.files.begin(), static_cast<std::ptrdiff_t>(below(random, input.files.size())));
    if (random() % 500 == 0 && input.files.size() > 1) {
      input.files.erase(file);
      continue;
    }
    auto from = std::next(other.files.begin(), static_cast<std::ptrdiff_t>(below(random, other.files.size())));
    const auto& [name, text] = *file;
    mutate_once(file->second, from->second, input.fields[name], name.ends_with(".json"), name.ends_with(".safetensors"), random);
  }
}

}  // namespace tackroom
