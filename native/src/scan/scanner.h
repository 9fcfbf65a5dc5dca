/**
 * The byte scanner: finds the strings of JSON lines, reads their escapes, looks into JSON and encodings inside them, and reports
 * where detectors should look. main/sanitize/scan/scanner.ts says the same in TypeScript; both give the same numbers.
 */
#pragma once
#include <functional>
#include <memory>

#include "anchors.h"
#include "growable.h"
#include "json_check.h"
#include "known_values.h"
#include "layout.h"
#include "small_cache.h"
#include "strings_seen.h"
#include "text_pass.h"

namespace tackroom::scan {

/** `ScanResult` in layout.ts; valid until the sink returns. */
struct ScanResult {
  const Growable<Leaf>& leaves;
  const Growable<Candidate>& candidates;
  const Growable<Breakpoint>& maps;
  const Bytes& arena;
  const Growable<SeenString>& seen;
};

class Scanner {
 public:
  using Sink = std::function<void(const ScanResult&)>;

  /** With `known` only these values are looked for; else the anchors. */
  Scanner(std::shared_ptr<const Anchors> anchors, std::unique_ptr<KnownValues> known);

  /**
   * Scans the whole lines [from, to) of an input of `size` bytes, JSON or not. The sink is called whenever there is enough and at the
   * end; what it throws comes through. The input may not change meanwhile, but if it does nothing outside is read.
   */
  void scan(const uint8_t* input, size_t size, size_t from, size_t to, const Sink& sink);

  /**
   * From now on the strings of JSON lines are numbered, and `states` says by their number what is known of them (StringState); it is read
   * and written in every scan. Null: no longer.
   */
  void remember(uint8_t* states, size_t count);

 private:
  /** Positions of the input or of the arena, which moves. */
  struct Range {
    int32_t source;
    size_t from, to;
    /** A string of JSON that holds a backslash. */
    bool escaped = false;
  };
  /** Range of an undecoded key; none: `known` is false. */
  struct Key {
    Range range{};
    bool known = false;
  };
  /** How positions of a text lead to those of the leaf `parent`; -1: of the input. */
  struct Origin {
    int32_t parent, shift;
  };

  class Walk;

  const uint8_t* bytes(int32_t source) const { return source == 0 ? input_ : arena_.data(); }
  Text text(const Range& range) const;
  Range range_of(size_t leaf) const;
  void clear();
  void flush(size_t unless);
  void segment(size_t from, size_t to);
  bool walk(const Range& range, const Tokens& tokens, Origin origin, int depth);
  bool string(const Range& range, Origin origin, const Key& key, int depth);
  bool seen_string(const Range& range, Origin origin, const Key& key, int depth);
  bool windows(const Range& range, Origin origin, const Key& key, int depth);
  int32_t parent_of(int32_t position, size_t maps);
  size_t add_leaf(int32_t parent, const Key& key);
  void drop(size_t leaf, size_t arena, size_t maps);
  bool content(size_t leaf, int depth, int views);
  bool look(size_t leaf, int depth, int views);
  bool add_view(size_t parent, View view, int depth, int views);
  bool encoded_runs(size_t parent, size_t first_run, int depth, int views);
  uint8_t key_flags(const uint8_t* at, size_t length);
  uint8_t cached_key_flags(const Key& key);
  bool is_dull(const Range& range, const Key& key);
  bool named(const Key& key, const char* const (&names)[4]) const;

  std::shared_ptr<const Anchors> anchors_;
  std::unique_ptr<KnownValues> known_;
  TextPass pass_;
  const uint8_t* input_ = nullptr;
  size_t size_ = 0;
  const Sink* sink_ = nullptr;
  Growable<Leaf> leaves_;
  Growable<Candidate> candidates_;
  Growable<Breakpoint> maps_;
  Bytes arena_;
  /** Runs of the texts that are being looked at, innermost last. */
  Growable<Run> runs_;
  /** Tokens of the JSON texts that are being walked, innermost last. */
  Growable<Token> tokens_;
  /** Texts in which nothing was found (1), and AnchorFlags of keys. */
  SmallCache dull_, keys_;
  std::unique_ptr<StringsSeen> strings_;
  uint8_t* states_ = nullptr;
  Growable<SeenString> seen_;
};

}  // namespace tackroom::scan
