#include "scanner.h"

#include <algorithm>
#include <cstring>

#include "byte_class.h"
#include "decode.h"
#include "layout.h"
#include "probes.h"

namespace tackroom::scan {
namespace {

/** What is kept of a key. */
constexpr int64_t kKeyLimit = 256;

/** Past a byte order mark. */
int64_t skip_mark(const uint8_t* b, int64_t from, int64_t to) {
  return to - from >= 3 && b[from] == 0xef && b[from + 1] == 0xbb && b[from + 2] == 0xbf ? from + 3 : from;
}

bool starts_json(const uint8_t* b, int64_t from, int64_t to) {
  int64_t i = skip_mark(b, from, to);
  while (i < to && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r')) i++;
  return i < to && (b[i] == '{' || b[i] == '[' || b[i] == '"');
}

bool one_of(std::initializer_list<const char*> names, const uint8_t* b, int64_t from, int64_t to) {
  if (to - from < 3 || to - from > 5) return false;
  for (const char* name : names)
    if (static_cast<size_t>(to - from) == std::strlen(name) && std::memcmp(b + from, name, std::strlen(name)) == 0) return true;
  return false;
}

}  // namespace

void Scanner::reset() {
  leaves_.set_length(0);
  candidates_.set_length(0);
  maps_.set_length(0);
  arena_.set_length(0);
}

void Scanner::scan(const uint8_t* input, int64_t from, int64_t to, ScanSink& sink) {
  // What an earlier scan left behind when its sink threw is gone.
  reset();
  tokens_.set_length(0);
  runs_.set_length(0);
  input_ = input;
  sink_ = &sink;
  const auto segment = [&](int64_t first, int64_t end) {
    windows({0, first, end}, -1, 0, {}, 0, false);
    flush(kArenaLimit);
  };
  int64_t text = -1;
  for (int64_t line = from; line < to;) {
    const void* newline = std::memchr(input + line, '\n', static_cast<size_t>(to - line));
    const int64_t end = newline == nullptr ? to : static_cast<const uint8_t*>(newline) - input;
    if (starts_json(input, line, end) && read_json(input, skip_mark(input, line, end), end, tokens_)) {
      if (text >= 0) {
        // Texts are looked into for JSON too; their tokens come on top.
        segment(text, line);
        text = -1;
      }
      walk(0, 0, -1, 0, 0);
      tokens_.set_length(0);
      flush(kArenaLimit);
    } else if (text < 0) {
      text = line;
    }
    line = end + 1;
  }
  if (text >= 0) segment(text, to);
  flush(0);
}

void Scanner::flush(int64_t unless) {
  if (arena_.length() < unless && candidates_.length() < unless >> 4) return;
  if (leaves_.length() > 0)
    sink_->take({leaves_.data(), leaves_.length(), candidates_.data(), candidates_.length(), maps_.data(), maps_.length(), arena_.data(),
                 arena_.length()});
  reset();
}

/** Strings of a text whose tokens are the last ones; `shift` leads from its positions to those of `parent`. Whether any leaf was kept. */
bool Scanner::walk(int source, int64_t first_token, int64_t parent, int64_t shift, int depth) {
  const int64_t end_token = tokens_.length();
  bool objects[kJsonDepth + 1];
  int open = 0, name_depth = -1;
  bool object = false, kept = false;
  Key key, element, name;
  for (int64_t at = first_token; at < end_token; at++) {
    const JsonToken token = tokens_[at];
    const Key string{source, token.from, token.to, token.escaped};
    switch (token.kind) {
      case JsonToken::OpenObject:
      case JsonToken::OpenArray:
        objects[open++] = object;
        object = token.kind == JsonToken::OpenObject;
        element = {};
        if (object) key = {};
        break;
      case JsonToken::Close:
        object = objects[--open];
        if (name_depth > open) name_depth = -1;
        break;
      case JsonToken::Key:
        key = string;
        if (this->string(token, source, parent, shift, {}, depth)) kept = true;
        break;
      case JsonToken::Text: {
        Key of = key;
        const uint8_t* b = bytes(source);
        if (object && name_depth == open && one_of({"value", "Value", "val", "text"}, b, key.from, key.to)) of = name;
        else if (!object && element.from >= 0) of = element;
        if (this->string(token, source, parent, shift, of, depth)) kept = true;
        b = bytes(source);
        if (object) {
          if (one_of({"name", "key", "Name", "Key"}, b, key.from, key.to)) {
            name = string;
            name_depth = open;
          }
        } else {
          element = b[token.from] == '-' ? string : Key{};
        }
        if (parent < 0) flush(kArenaLimit);
      }
    }
  }
  return kept;
}

/** One JSON string, quotes left out. What nothing is in is known for short ones that were seen before. */
bool Scanner::string(const JsonToken& token, int source, int64_t parent, int64_t shift, const Key& key, int depth) {
  const Place place{source, token.from, token.to};
  const int64_t length = place.to - place.from;
  const uint8_t* b = bytes(source);
  if (token.escaped || length > ShortText::kLongest || starts_json(b, place.from, place.to))
    return windows(place, parent, shift, key, depth, token.escaped);
  const ShortText text = ShortText::of(b + place.from, length);
  ShortText& quiet = quiet_[text.slot(kQuietBits)];
  if (quiet == text) {
    if (known_ || key.from < 0 || key.to == key.from) return false;
    const uint8_t* name = bytes(key.source) + key.from;
    if (!key.escaped && key.to - key.from > 2 && key.to - key.from <= kKeyLimit &&
        (key_flags(name, key.to - key.from) & (kSecretKey | kPersonKey)) == 0)
      return false;
  }
  if (windows(place, parent, shift, key, depth, false)) return true;
  quiet = text;
  return false;
}

int64_t Scanner::decode_to_arena(int view, const Place& place, int64_t shift, int64_t limit) {
  arena_.reserve(decode_room(place.from, place.to, limit));
  return decode(view, bytes(place.source), place.from, place.to, shift, limit, arena_, maps_);
}

/** A string or plain text, in windows where it is long. `escaped`: its escapes are read. */
bool Scanner::windows(const Place& place, int64_t parent, int64_t shift, const Key& key, int depth, bool escaped) {
  bool kept = false;
  int64_t own = 0;
  for (int64_t at = place.from;;) {
    const int64_t arena = arena_.length(), maps = maps_.length(), leaf = this->leaf(parent, key);
    int64_t next, again = 0, length;
    if (!escaped) {
      next = std::min(place.to, at + kWindow);
      again = next - kOverlap;
      length = next - at;
      field(leaf, kSource) = place.source;
      field(leaf, kStart) = static_cast<int32_t>(at);
      field(leaf, kShift) = static_cast<int32_t>(at + shift);
    } else {
      const int64_t start = arena_.length(), map_start = maps_.length();
      next = decode_to_arena(kJson, {place.source, at, place.to}, shift, kWindow);
      length = arena_.length() - start;
      field(leaf, kSource) = 1;
      field(leaf, kStart) = static_cast<int32_t>(start);
      field(leaf, kMapStart) = static_cast<int32_t>(map_start);
      field(leaf, kMapCount) = static_cast<int32_t>((maps_.length() - map_start) / kBreakpoint);
      field(leaf, kViews) = kJson;
      if (next < place.to) again = parent_of(length - kOverlap, map_start) - shift;
    }
    const bool last = next >= place.to;
    field(leaf, kLength) = static_cast<int32_t>(length);
    field(leaf, kOwnFrom) = static_cast<int32_t>(own);
    field(leaf, kOwnTo) = static_cast<int32_t>(last ? length : length - kOverlap / 2);
    if (content(leaf, at == place.from && last ? depth : kNesting, 0)) kept = true;
    else drop(leaf, arena, maps);
    if (last) return kept;
    at = again;
    own = kOverlap / 2;
    if (parent < 0) flush(kArenaLimit);
  }
}

/** Position of the parent for `position` of the text whose breakpoints are the last ones, from `maps` on. */
int64_t Scanner::parent_of(int64_t position, int64_t maps) {
  int64_t at = maps_.length() - kBreakpoint;
  while (at > maps && maps_[at] > position) at -= kBreakpoint;
  return maps_[at + 1] + position - maps_[at];
}

int64_t Scanner::leaf(int64_t parent, const Key& key) {
  const int64_t at = leaves_.push(kFields), leaf = at / kFields;
  std::memset(leaves_.data() + at, 0, kFields * sizeof(int32_t));
  field(leaf, kParent) = static_cast<int32_t>(parent);
  field(leaf, kFirstCandidate) = static_cast<int32_t>(candidates_.length() / kCandidate);
  if (key.from >= 0) {
    const int64_t start = arena_.length(), maps = maps_.length();
    decode_to_arena(kJson, {key.source, key.from, key.to}, 0, kKeyLimit);
    maps_.set_length(maps);
    field(leaf, kKeyStart) = static_cast<int32_t>(start);
    field(leaf, kKeyLength) = static_cast<int32_t>(arena_.length() - start);
  }
  return leaf;
}

void Scanner::drop(int64_t leaf, int64_t arena, int64_t maps) {
  leaves_.set_length(leaf * kFields);
  arena_.set_length(arena);
  maps_.set_length(maps);
}

/** JSON inside, or text. Whether there is anything to look at. */
bool Scanner::content(int64_t leaf, int depth, int views) {
  const int source = field(leaf, kSource);
  const int64_t from = field(leaf, kStart), to = from + field(leaf, kLength);
  const uint8_t* b = bytes(source);
  if (depth < kNesting && starts_json(b, from, to)) {
    const int64_t first = tokens_.length();
    if (read_json(b, from, to, tokens_)) {
      const bool kept = walk(source, first, leaf, -from, depth + 1);
      tokens_.set_length(first);
      return kept;
    }
  }
  return text(leaf, depth, views);
}

bool Scanner::text(int64_t leaf, int depth, int views) {
  const int64_t first = candidates_.length(), first_run = runs_.length();
  const int source = field(leaf, kSource);
  const int64_t from = field(leaf, kStart), to = from + field(leaf, kLength);
  const uint8_t* b = bytes(source);
  if (known_) {
    known_->find(b, from, to, candidates_);
  } else {
    if (field(leaf, kKeyLength) > 0) key_words(leaf, field(leaf, kKeyLength));
    anchors_.find(b, from, to, candidates_);
  }
  probes_.set_length(0);
  const int seen = mark_text(b, from, to, runs_, known_ ? nullptr : &probes_);
  if (const int64_t found = probes_.length(); found > 0) {
    const int64_t at = candidates_.push(found);
    std::memcpy(candidates_.data() + at, probes_.data(), static_cast<size_t>(found) * sizeof(int32_t));
  }
  field(leaf, kCandidates) = static_cast<int32_t>((candidates_.length() - first) / kCandidate);
  bool kept = candidates_.length() > first;
  const Place place{source, from, to};
  if (runs_.length() > first_run && encoded_runs(leaf, place, first_run, depth, views)) kept = true;
  runs_.set_length(first_run);
  if (views >= (field(leaf, kLength) > kLongText ? 1 : kMaxViews) || seen == 0) return kept;
  for (const int one : {kClean, kUnescaped, kPercent, kEntities}) {
    if ((seen & one) == 0) continue;
    field(leaf, kSeenAs) |= one;
    if (view(leaf, place, one, depth, views + 1)) kept = true;
  }
  return kept;
}

bool Scanner::view(int64_t parent, const Place& place, int view, int depth, int views) {
  const int64_t arena = arena_.length(), maps = maps_.length(), leaf = this->leaf(parent, {});
  field(leaf, kKeyStart) = field(parent, kKeyStart);
  field(leaf, kKeyLength) = field(parent, kKeyLength);
  decode_to_arena(view, place, -place.from, place.to - place.from + 4);
  const auto length = static_cast<int32_t>(arena_.length() - arena);
  field(leaf, kSource) = 1;
  field(leaf, kStart) = static_cast<int32_t>(arena);
  field(leaf, kLength) = length;
  field(leaf, kOwnTo) = length;
  field(leaf, kMapStart) = static_cast<int32_t>(maps);
  field(leaf, kMapCount) = static_cast<int32_t>((maps_.length() - maps) / kBreakpoint);
  field(leaf, kViews) = field(parent, kViews) | view;
  if (content(leaf, depth, views)) return true;
  drop(leaf, arena, maps);
  return false;
}

/** Runs of base64 or hex that say something readable, each as a leaf of its own. */
bool Scanner::encoded_runs(int64_t parent, const Place& place, int64_t first_run, int depth, int views) {
  if (depth >= kNesting) return false;
  const int64_t end_run = runs_.length();
  bool kept = false;
  for (int64_t r = first_run; r < end_run; r++) {
    const Run run = runs_[r];
    const int64_t size = run.to - run.from, arena = arena_.length(), maps = maps_.length();
    arena_.reserve(size);
    const uint8_t* b = bytes(place.source);
    uint8_t* out = arena_.data() + arena;
    int64_t length = decode_base64(b, run.from, run.to, out);
    if (length < 0 && size % 2 == 0 && std::all_of(b + run.from, b + run.to, is_hex)) length = decode_hex(b, run.from, run.to, out);
    if (length < 12) continue;
    int64_t end = run.to;
    while (end < place.to && end < run.to + 2 && b[end] == '=') end++;
    arena_.set_length(arena + length);
    const int64_t leaf = this->leaf(parent, {});
    field(leaf, kSource) = 1;
    field(leaf, kStart) = static_cast<int32_t>(arena);
    field(leaf, kLength) = static_cast<int32_t>(length);
    field(leaf, kOwnTo) = static_cast<int32_t>(length);
    field(leaf, kShift) = static_cast<int32_t>(run.from - place.from);
    field(leaf, kWhole) = static_cast<int32_t>(end - run.from);
    field(leaf, kViews) = field(parent, kViews) | kEncoded;
    if (content(leaf, depth + 1, views)) kept = true;
    else drop(leaf, arena, maps);
  }
  return kept;
}

int Scanner::key_flags(const uint8_t* key, int64_t length) {
  if (length > ShortText::kLongest) return anchors_.flags_of_key(key, 0, length);
  const ShortText text = ShortText::of(key, length);
  SeenKey& seen = seen_keys_[text.slot(kSeenKeyBits)];
  if (!(seen.key == text)) seen = {text, anchors_.flags_of_key(key, 0, length)};
  return seen.flags;
}

/** Marks the leaf when its key is a name of secrets or of personal data. */
void Scanner::key_words(int64_t leaf, int64_t length) {
  const int flags = key_flags(arena_.data() + field(leaf, kKeyStart), length) | (length <= 2 ? kSecretKey : 0);
  for (const auto& [flag, probe] : {std::pair{kSecretKey, kKeyValue}, {kPersonKey, kKeyPerson}}) {
    if ((flags & flag) == 0) continue;
    candidates_.add(0);
    candidates_.add(probe);
  }
}

}  // namespace tackroom::scan
