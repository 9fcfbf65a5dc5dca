/**
 * The byte scanner: main/sanitize/scan/scanner.ts, number for number. It finds the strings of JSON lines, reads their escapes, looks
 * into JSON and encodings inside them, and reports where detectors should look.
 */
#pragma once
#include <memory>

#include "anchors.h"
#include "growing.h"
#include "json_check.h"
#include "known_values.h"
#include "layout.h"
#include "short_text.h"
#include "text_marks.h"

namespace tackroom::scan {

/** `ScanResult` of main/sanitize/scan/layout.ts. */
struct ScanResult {
  const int32_t* leaves;
  int64_t leaf_numbers;
  const int32_t* candidates;
  int64_t candidate_numbers;
  const int32_t* maps;
  int64_t map_numbers;
  const uint8_t* arena;
  int64_t arena_bytes;
};

class ScanSink {
 public:
  virtual ~ScanSink() = default;
  /** The arrays are valid until it returns. It may throw: the scan ends then. */
  virtual void take(const ScanResult& result) = 0;
};

class Scanner {
 public:
  /** With `known` only these values are looked for; else the anchors. */
  Scanner(AnchorTables tables, std::unique_ptr<KnownValues> known) : anchors_(std::move(tables)), known_(std::move(known)) {}

  /** Scans input[from..to), at most 2 GB. The bytes must stay as they are until it returns. */
  void scan(const uint8_t* input, int64_t from, int64_t to, ScanSink& sink);

 private:
  /** Range of the undecoded key in its text; from < 0: none. */
  struct Key {
    int source = 0;
    int64_t from = -1, to = -1;
    bool escaped = false;
  };
  struct Place {
    int source;
    int64_t from, to;
  };

  const uint8_t* bytes(int source) const { return source == 0 ? input_ : arena_.data(); }
  int32_t& field(int64_t leaf, int at) { return leaves_[leaf * 16 + at]; }
  void flush(int64_t unless);
  void reset();
  bool walk(int source, int64_t first_token, int64_t parent, int64_t shift, int depth);
  bool string(const JsonToken& token, int source, int64_t parent, int64_t shift, const Key& key, int depth);
  bool windows(const Place& place, int64_t parent, int64_t shift, const Key& key, int depth, bool escaped);
  int64_t parent_of(int64_t position, int64_t maps);
  int64_t leaf(int64_t parent, const Key& key);
  void drop(int64_t leaf, int64_t arena, int64_t maps);
  bool content(int64_t leaf, int depth, int views);
  bool text(int64_t leaf, int depth, int views);
  bool view(int64_t parent, const Place& place, int view, int depth, int views);
  bool encoded_runs(int64_t parent, const Place& place, int64_t first_run, int depth, int views);
  void key_words(int64_t leaf, int64_t length);
  int key_flags(const uint8_t* key, int64_t length);
  int64_t decode_to_arena(int view, const Place& place, int64_t shift, int64_t limit);

  Anchors anchors_;
  std::unique_ptr<KnownValues> known_;
  const uint8_t* input_ = nullptr;
  ScanSink* sink_ = nullptr;
  Growing<uint8_t> arena_;
  Growing<int32_t> leaves_, candidates_, maps_, probes_;
  /** Stacks: a text that is looked at inside another one puts its own on top. */
  Growing<JsonToken> tokens_;
  Growing<Run> runs_;
  /** Keys are few, and come again and again. */
  static constexpr int kSeenKeyBits = 8, kQuietBits = 11;
  struct SeenKey {
    ShortText key;
    int flags = 0;
  };
  SeenKey seen_keys_[1 << kSeenKeyBits];
  /** Short texts in which nothing is, which keys and names are. */
  ShortText quiet_[1 << kQuietBits];
  static_assert(ShortText::kLongest < kEncodedMin, "no encoded text is short");
};

}  // namespace tackroom::scan
