/** The numbers of main/sanitize/scan/layout.ts: what a scan reports, and its limits. Change both together. */
#pragma once
#include <cstddef>
#include <cstdint>

namespace tackroom::scan {

/** One leaf; the fields in the order of `Leaf` in layout.ts. */
struct Leaf {
  int32_t parent, source, start, length, map_start, map_count, shift, whole;
  int32_t key_start, key_length, own_from, own_to, first_candidate, candidates, views, seen_as;
};
constexpr size_t kFields = 16;
static_assert(sizeof(Leaf) == kFields * sizeof(int32_t));

/** From `position` of the new text on it goes on at `parent`; what stood before it ended at `gap`. */
struct Breakpoint {
  int32_t position, parent, gap;
};

struct Candidate {
  int32_t position, anchor;
};

/** A string of a line that stands at `start` and has leaves, or was seen before; its leaves are [first, end). */
struct SeenString {
  int32_t number, start, first, end;
};
/** What is known of a string: not yet anything; that nothing is there; the reader of leaves knows what; it must be read every time. */
enum StringState : uint8_t { kUnknown = 0, kNothing = 1, kKnown = 2, kEveryTime = 3 };

enum View : int32_t { kJson = 1, kClean = 2, kUnescaped = 4, kPercent = 8, kEntities = 16, kEncoded = 32 };

enum Probe : int32_t {
  kKeyValue = 0,
  kKeyPerson = 1,
  kIpv4 = 3,
  kIpv6 = 4,
  kMac = 5,
  kPhone = 6,
  kDigits = 7,
  kIban = 8,
  kHexTriple = 9,
};
constexpr int32_t kFirstLiteral = 16;

enum AnchorFlag : uint8_t { kStart = 1, kExactCase = 2, kSecretKey = 4, kPersonKey = 8 };

constexpr size_t kWindow = 4 << 20;
constexpr size_t kOverlap = 128 << 10;
constexpr int kNesting = 4;
constexpr int kViews = 3;
/** Longer texts are seen in each view, not in views of views. */
constexpr size_t kLongText = 256 << 10;
constexpr size_t kJsonDepth = 512;
constexpr size_t kArena = 4 << 20;
constexpr size_t kEncodedMin = 20;
constexpr size_t kEncodedMax = 1 << 20;
constexpr size_t kKeyLimit = 256;
/** Longer strings have no number. */
constexpr size_t kSeenMost = 64 << 10;

}  // namespace tackroom::scan
