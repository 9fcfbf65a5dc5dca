#include "scanner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "decode.h"
#include "probes.h"

namespace tackroom::scan {
namespace {

constexpr const char* kNames[4] = {"name", "key", "Name", "Key"};
constexpr const char* kValues[4] = {"value", "Value", "val", "text"};
/** No AnchorFlags: they are not known. */
constexpr uint8_t kUnknownFlags = 0xff;

}  // namespace

Scanner::Scanner(std::shared_ptr<const Anchors> anchors, std::unique_ptr<KnownValues> known)
    : anchors_(std::move(anchors)), known_(std::move(known)), pass_(anchors_ ? &anchors_->in_text : nullptr, known_.get()) {}

void Scanner::scan(const uint8_t* input, size_t size, size_t from, size_t to, const Sink& sink) {
  input_ = input;
  size_ = size;
  sink_ = &sink;
  clear();
  runs_.length = tokens_.length = 0;
  size_t plain = 0;
  bool in_plain = false;
  for (size_t line = from; line < to;) {
    const void* found = std::memchr(input + line, '\n', to - line);
    const size_t end = found == nullptr ? to : static_cast<size_t>(static_cast<const uint8_t*>(found) - input);
    Text json = text({0, line, end});
    if (Tokens tokens{tokens_}; starts_json(json) && is_json(json, tokens)) {
      if (in_plain) segment(plain, line);
      in_plain = false;
      walk({0, static_cast<size_t>(json.begin - input), end}, tokens, {-1, 0}, 0);
      flush(kArena);
    } else {
      tokens_.length = 0;
      if (!in_plain) plain = line;
      in_plain = true;
    }
    line = end + 1;
  }
  if (in_plain) segment(plain, to);
  flush(0);
}

Text Scanner::text(const Range& range) const {
  const uint8_t* start = bytes(range.source);
  return {start + range.from, start + range.to, range.source == 0 ? input_ + size_ : start + arena_.length + kSlack};
}

Scanner::Range Scanner::range_of(size_t leaf) const {
  const Leaf& l = leaves_.data()[leaf];
  const auto start = static_cast<size_t>(l.start);
  return {l.source, start, start + static_cast<size_t>(l.length)};
}

void Scanner::remember(uint8_t* states, size_t count) {
  if (states == nullptr) strings_.reset();
  else if (strings_ == nullptr) strings_ = std::make_unique<StringsSeen>(count);
  states_ = states;
}

void Scanner::clear() { leaves_.length = candidates_.length = maps_.length = arena_.length = seen_.length = 0; }

void Scanner::flush(size_t unless) {
  if (arena_.length < unless && candidates_.length * 2 < unless >> 4 && seen_.length < unless >> 6) return;
  if (leaves_.length > 0 || seen_.length > 0) (*sink_)({leaves_, candidates_, maps_, arena_, seen_});
  clear();
}

/** Plain text. */
void Scanner::segment(size_t from, size_t to) {
  windows({0, from, to}, {-1, 0}, {}, 0);
  flush(kArena);
}

/** Goes through a text that is JSON, string by string. */
class Scanner::Walk {
 public:
  Walk(Scanner& scanner, const Range& range, Origin origin, int depth) : scanner_(scanner), range_(range), origin_(origin), depth_(depth) {}

  void open(uint8_t bracket) {
    if (open_ == kJsonDepth) return;
    objects_[open_++] = object_;
    object_ = bracket == '{';
    element_.known = false;
    if (object_) key_.known = false;
  }
  void close() {
    object_ = open_ > 0 && objects_[--open_];
    if (has_name_ && name_depth_ > open_) has_name_ = false;
  }
  /** Positions count from the text's beginning. */
  void string(size_t at, size_t end, bool escaped, bool is_key) {
    const Range inner{range_.source, range_.from + at, range_.from + end, escaped};
    if (is_key) {
      key_ = {inner, true};
      if (scanner_.string(inner, origin_, {}, depth_)) kept = true;
      return;
    }
    const bool valued = object_ && has_name_ && name_depth_ == open_ && scanner_.named(key_, kValues);
    const Key& of = valued ? name_ : !object_ && element_.known ? element_ : key_;
    if (scanner_.string(inner, origin_, of, depth_)) kept = true;
    if (!object_) {
      element_ = {inner, scanner_.bytes(range_.source)[inner.from] == '-'};
    } else if (scanner_.named(key_, kNames)) {
      name_ = {inner, true};
      has_name_ = true;
      name_depth_ = open_;
    }
    if (origin_.parent < 0) scanner_.flush(kArena);
  }
  bool object() const { return object_; }

  /** Whether any leaf was kept. */
  bool kept = false;

 private:
  Scanner& scanner_;
  const Range range_;
  const Origin origin_;
  const int depth_;
  bool objects_[kJsonDepth];
  size_t open_ = 0, name_depth_ = 0;
  bool object_ = false, has_name_ = false;
  Key key_, element_, name_;
};

/** Strings of a text that is JSON. Whether any leaf was kept. */
bool Scanner::walk(const Range& range, const Tokens& tokens, Origin origin, int depth) {
  Walk walk(*this, range, origin, depth);
  const size_t end = tokens_.length;
  if (tokens.complete) {
    for (size_t k = tokens.first; k < end; k++) {
      const Token token = tokens_[k];
      if (!token.is_bracket()) walk.string(token.first(), token.last(), token.escaped(), token.key());
      else if (token.end == '{' || token.end == '[') walk.open(static_cast<uint8_t>(token.end));
      else walk.close();
    }
    tokens_.length = tokens.first;
    return walk.kept;
  }
  tokens_.length = tokens.first;
  bool want_key = false;
  for (size_t i = 0, length = range.to - range.from; i < length;) {
    // Fetched anew every time: looking into a string may move the arena.
    const Text whole = text(range);
    const uint8_t c = whole.begin[i++];
    if (c == '{' || c == '[') {
      walk.open(c);
      want_key = c == '{';
    } else if (c == '}' || c == ']') {
      walk.close();
      want_key = false;
    } else if (c == ',') {
      want_key = walk.object();
    } else if (c == '"') {
      bool escaped;
      const uint8_t* end = checked_string_end(whole.begin + i, whole.end, whole.readable, escaped);
      if (end == whole.end) break;
      const size_t at = i;
      i = static_cast<size_t>(end - whole.begin) + 1;
      walk.string(at, i - 1, escaped, std::exchange(want_key, false));
    }
  }
  return walk.kept;
}

/** One JSON string, quotes left out. */
bool Scanner::string(const Range& range, Origin origin, const Key& key, int depth) {
  if (!range.escaped && range.to - range.from <= SmallCache::kLongest && is_dull(range, key)) return false;
  if (strings_ != nullptr && origin.parent < 0 && range.to - range.from <= kSeenMost) return seen_string(range, origin, key, depth);
  return windows(range, origin, key, depth);
}

/** A string of a line that may have been there before. */
bool Scanner::seen_string(const Range& range, Origin origin, const Key& key, int depth) {
  StringsSeen::Hash hash{static_cast<uint64_t>(range.escaped), static_cast<uint64_t>(key.known) | static_cast<uint64_t>(key.range.escaped) << 1};
  if (key.known) hash = strings_->hash(bytes(key.range.source) + key.range.from, key.range.to - key.range.from, hash);
  const int32_t number = strings_->number(strings_->hash(bytes(range.source) + range.from, range.to - range.from, hash));
  if (number < 0) return windows(range, origin, key, depth);
  const auto start = static_cast<int32_t>(range.from), first = static_cast<int32_t>(leaves_.length);
  uint8_t& state = states_[number];
  if (state == kNothing) return false;
  if (state == kKnown) {
    seen_.push({number, start, first, first});
    return true;
  }
  const bool kept = windows(range, origin, key, depth);
  if (state != kUnknown) return kept;
  if (kept) seen_.push({number, start, first, static_cast<int32_t>(leaves_.length)});
  else state = kNothing;
  return kept;
}

/** A short text in which nothing was found before, and whose key says nothing: no leaf would be kept. */
bool Scanner::is_dull(const Range& range, const Key& key) {
  const SmallCache::Key text = SmallCache::key(bytes(range.source) + range.from, range.to - range.from);
  return dull_.get(text, 0) == 1 && (known_ || !key.known || cached_key_flags(key) == 0);
}

/** A string or plain text, in windows where it is long. */
bool Scanner::windows(const Range& range, Origin origin, const Key& key, int depth) {
  bool kept = false;
  int32_t own = 0;
  for (size_t at = range.from;;) {
    const size_t arena = arena_.length, maps = maps_.length;
    const size_t leaf = add_leaf(origin.parent, key);
    size_t next, again = 0;
    if (!range.escaped) {
      Leaf& l = leaves_[leaf];
      next = std::min(range.to, at + kWindow);
      again = next - kOverlap;
      l.source = range.source;
      l.start = static_cast<int32_t>(at);
      l.length = static_cast<int32_t>(next - at);
      l.shift = static_cast<int32_t>(at) + origin.shift;
    } else {
      arena_.reserve(decoded_room(range.to - at, kWindow));
      const size_t start = arena_.length;
      const Text source = text({range.source, at, range.to});
      next = at + static_cast<size_t>(decode(kJson, source, static_cast<int32_t>(at) + origin.shift, kWindow, arena_, maps_) - source.begin);
      Leaf& l = leaves_[leaf];
      l.source = 1;
      l.start = static_cast<int32_t>(start);
      l.length = static_cast<int32_t>(arena_.length - start);
      l.map_start = static_cast<int32_t>(maps * 3);
      l.map_count = static_cast<int32_t>(maps_.length - maps);
      l.views = kJson;
      if (next < range.to) again = static_cast<size_t>(parent_of(l.length - static_cast<int32_t>(kOverlap), maps) - origin.shift);
    }
    Leaf& l = leaves_[leaf];
    const bool last = next >= range.to;
    l.own_from = own;
    l.own_to = last ? l.length : l.length - static_cast<int32_t>(kOverlap / 2);
    if (content(leaf, at == range.from && last ? depth : kNesting, 0)) kept = true;
    else drop(leaf, arena, maps);
    if (last) return kept;
    at = again;
    own = static_cast<int32_t>(kOverlap / 2);
    if (origin.parent < 0) flush(kArena);
  }
}

/** Position of the parent for `position` of the text whose breakpoints are the last ones, from `maps` on. */
int32_t Scanner::parent_of(int32_t position, size_t maps) {
  size_t at = maps_.length - 1;
  while (at > maps && maps_[at].position > position) at--;
  return maps_[at].parent + position - maps_[at].position;
}

size_t Scanner::add_leaf(int32_t parent, const Key& key) {
  Leaf leaf{};
  leaf.parent = parent;
  leaf.first_candidate = static_cast<int32_t>(candidates_.length);
  if (key.known) {
    const size_t start = arena_.length, maps = maps_.length, length = key.range.to - key.range.from;
    arena_.reserve(decoded_room(length, kKeyLimit));
    if (key.range.escaped) {
      decode(kJson, text(key.range), 0, kKeyLimit, arena_, maps_);
      maps_.length = maps;
    } else {
      std::memcpy(arena_.data() + start, bytes(key.range.source) + key.range.from, std::min(length, kKeyLimit));
      arena_.length += std::min(length, kKeyLimit);
    }
    leaf.key_start = static_cast<int32_t>(start);
    leaf.key_length = static_cast<int32_t>(arena_.length - start);
  }
  leaves_.push(leaf);
  return leaves_.length - 1;
}

void Scanner::drop(size_t leaf, size_t arena, size_t maps) {
  leaves_.length = leaf;
  arena_.length = arena;
  maps_.length = maps;
}

/** JSON inside, or text. Whether there is anything to look at. */
bool Scanner::content(size_t leaf, int depth, int views) {
  if (depth < kNesting) {
    const Range range = range_of(leaf);
    const Text whole = text(range);
    Text json = whole;
    Tokens tokens{tokens_};
    if (starts_json(json) && is_json(whole, tokens))
      return walk(range, tokens, {static_cast<int32_t>(leaf), -static_cast<int32_t>(range.from)}, depth + 1);
    tokens_.length = tokens.first;
  }
  return look(leaf, depth, views);
}

bool Scanner::look(size_t leaf, int depth, int views) {
  const size_t first = candidates_.length, first_run = runs_.length;
  const Range range = range_of(leaf);
  if (!known_ && leaves_[leaf].key_length > 0) {
    const uint8_t flags = key_flags(arena_.data() + leaves_[leaf].key_start, static_cast<size_t>(leaves_[leaf].key_length));
    if ((flags & kSecretKey) != 0) candidates_.push({0, kKeyValue});
    if ((flags & kPersonKey) != 0) candidates_.push({0, kKeyPerson});
  }
  const size_t of_key = candidates_.length;
  const int32_t seen = pass_.look(text(range), candidates_, depth < kNesting ? &runs_ : nullptr);
  const size_t length = range.to - range.from;
  // Nested deeper, JSON would have been looked at as text: that says nothing of it as JSON.
  if (depth < kNesting && length <= SmallCache::kLongest && seen == 0 && candidates_.length == of_key)
    dull_.set(SmallCache::key(bytes(range.source) + range.from, length), 1);
  leaves_[leaf].candidates = static_cast<int32_t>(candidates_.length - first);
  bool kept = candidates_.length > first;
  if (runs_.length > first_run && encoded_runs(leaf, first_run, depth, views)) kept = true;
  runs_.length = first_run;
  if (views >= (length > kLongText ? 1 : kViews) || seen == 0) return kept;
  for (const View view : {kClean, kUnescaped, kPercent, kEntities}) {
    if ((seen & view) == 0) continue;
    leaves_[leaf].seen_as |= view;
    if (add_view(leaf, view, depth, views + 1)) kept = true;
  }
  return kept;
}

bool Scanner::add_view(size_t parent, View view, int depth, int views) {
  const size_t arena = arena_.length, maps = maps_.length;
  const size_t leaf = add_leaf(static_cast<int32_t>(parent), {});
  const Range range = range_of(parent);
  const size_t limit = range.to - range.from + 4;
  arena_.reserve(decoded_room(range.to - range.from, limit));
  decode(view, text(range), 0, limit, arena_, maps_);
  Leaf& l = leaves_[leaf];
  const Leaf& of = leaves_[parent];
  l.key_start = of.key_start;
  l.key_length = of.key_length;
  l.source = 1;
  l.start = static_cast<int32_t>(arena);
  l.length = l.own_to = static_cast<int32_t>(arena_.length - arena);
  l.map_start = static_cast<int32_t>(maps * 3);
  l.map_count = static_cast<int32_t>(maps_.length - maps);
  l.views = of.views | view;
  if (content(leaf, depth, views)) return true;
  drop(leaf, arena, maps);
  return false;
}

/** Runs of base64 or hex that say something readable, each as a leaf of its own. */
bool Scanner::encoded_runs(size_t parent, size_t first_run, int depth, int views) {
  bool kept = false;
  const Range range = range_of(parent);
  for (size_t k = first_run, end = runs_.length; k < end; k++) {
    const Run run = runs_[k];
    const auto size = static_cast<size_t>(run.to - run.from);
    if (size > kEncodedMax) continue;
    const size_t arena = arena_.length, maps = maps_.length;
    arena_.reserve(size);
    const Text whole = text(range);
    const uint8_t *from = whole.begin + run.from, *to = whole.begin + run.to;
    uint8_t* out = arena_.data() + arena;
    ptrdiff_t length = decode_base64(from, to, out);
    if (length < 0 && size % 2 == 0) length = decode_hex(from, to, out);
    if (length < 12) continue;
    while (to < whole.end && to < whole.begin + run.to + 2 && *to == '=') to++;
    const auto shown = static_cast<int32_t>(to - from);
    arena_.length = arena + static_cast<size_t>(length);
    const size_t leaf = add_leaf(static_cast<int32_t>(parent), {});
    Leaf& l = leaves_[leaf];
    l.source = 1;
    l.start = static_cast<int32_t>(arena);
    l.length = l.own_to = static_cast<int32_t>(length);
    l.shift = run.from;
    l.whole = shown;
    l.views = leaves_[parent].views | kEncoded;
    if (content(leaf, depth + 1, views)) kept = true;
    else drop(leaf, arena, maps);
  }
  return kept;
}

/** AnchorFlags of all words in a key. */
uint8_t Scanner::key_flags(const uint8_t* at, size_t length) {
  const SmallCache::Key small = length <= SmallCache::kLongest ? SmallCache::key(at, length) : SmallCache::Key{};
  if (small.length > 0) {
    const uint8_t remembered = keys_.get(small, kUnknownFlags);
    if (remembered != kUnknownFlags) return remembered;
  }
  uint8_t flags = length <= 2 ? kSecretKey : 0;
  // Longer ones lie in the arena, where more may be read.
  uint8_t copy[SmallCache::kLongest + 8] = {};
  if (length <= SmallCache::kLongest) at = static_cast<const uint8_t*>(std::memcpy(copy, at, length));
  const uint8_t* end = at + length;
  for (const uint8_t* i = at; i < end; i++)
    anchors_->in_keys.match(i, end, i, i == at || !is_alnum(i[-1]), [&](int32_t anchor, uint8_t) { flags |= anchors_->tables.flags[static_cast<size_t>(anchor)]; });
  flags &= kSecretKey | kPersonKey;
  if (small.length > 0) keys_.set(small, flags);
  return flags;
}

/** Flags of an undecoded key; all where it would have to be decoded. */
uint8_t Scanner::cached_key_flags(const Key& key) {
  const uint8_t* at = bytes(key.range.source) + key.range.from;
  const size_t length = key.range.to - key.range.from;
  if (length == 0) return 0;
  if (length > SmallCache::kLongest || key.range.escaped) return kUnknownFlags;
  return key_flags(at, length);
}

bool Scanner::named(const Key& key, const char* const (&names)[4]) const {
  if (!key.known) return false;
  const size_t length = key.range.to - key.range.from;
  if (length < 3 || length > 5) return false;
  const uint8_t* at = bytes(key.range.source) + key.range.from;
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return std::strlen(name) == length && std::memcmp(at, name, length) == 0; });
}

}  // namespace tackroom::scan
