/** Numbers that the scan's bodies share; the same as in main/sanitize/scan/layout.ts, where they are explained. */
#pragma once
#include <cstdint>

namespace tackroom::scan {

constexpr int64_t kFields = 16, kBreakpoint = 3, kCandidate = 2;

enum Leaf : int {
  kParent, kSource, kStart, kLength, kMapStart, kMapCount, kShift, kWhole,
  kKeyStart, kKeyLength, kOwnFrom, kOwnTo, kFirstCandidate, kCandidates, kViews, kSeenAs,
};

enum View : int { kJson = 1, kClean = 2, kUnescaped = 4, kPercent = 8, kEntities = 16, kEncoded = 32 };

enum Probe : int32_t {
  kKeyValue = 0, kKeyPerson = 1, kIpv4 = 3, kIpv6 = 4, kMac = 5, kPhone = 6, kDigits = 7, kIban = 8, kHexTriple = 9,
};
constexpr int32_t kFirstLiteral = 16;

constexpr int64_t kWindow = 4 << 20, kOverlap = 128 << 10, kArenaLimit = 4 << 20, kEncodedMin = 20, kEncodedMax = 1 << 20;
constexpr int kNesting = 4, kMaxViews = 3, kJsonDepth = 512;
// Longer texts are seen in each view, not in views of views: these would take many times their size.
constexpr int64_t kLongText = 256 << 10;

enum AnchorFlag : int { kAtStart = 1, kExactCase = 2, kSecretKey = 4, kPersonKey = 8 };

}  // namespace tackroom::scan
