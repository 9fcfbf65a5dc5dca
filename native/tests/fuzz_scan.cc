/**
 * Throws random and damaged lines at the byte scanner: nothing is read outside the input, everything reported lies in a text, and
 * the time of an input is bounded.
 *
 * usage: fuzz_scan [--seed N] [--count N] [--first N] [--save FILE]
 * Input i follows from the seed and i alone, so a failure is repeated with --first i --count 1; --save writes it to a file. Meant to
 * be built with the address and undefined-behaviour sanitizers. Exit status 1 on the first failure.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "scan/layout.h"
#include "scan/needles.h"
#include "scan/scanner.h"
#include "scan/splice.h"

namespace tackroom::scan {
namespace {

/** With sanitizers; a long text is looked at in many views. */
constexpr double kMostSeconds = 2, kMostSecondsPerByte = 8e-6;
using Random = std::mt19937_64;

size_t below(Random& random, size_t end) { return static_cast<size_t>(random() % end); }

struct Anchor {
  std::string literal;
  int flags;
};
const std::vector<Anchor> kAnchors = {
    {"token", kSecretKey}, {"pass", kSecretKey}, {"key", kSecretKey}, {"AKIA", kStart | kExactCase}, {"K", kStart | kExactCase}, {"5", kStart},
    {"@", 0}, {"-u", kExactCase}, {"/home/", 0}, {"\\home\\", 0}, {"user", kPersonKey}, {"username=", 0}, {"sername", 0}, {"id ", 0}, {"key", 0},
    {"eyJ", kStart | kExactCase}, {"://", 0}, {"-----BEGIN", kExactCase}, {"\xff\xfe", 0}, {"aaaaaa", 0}, {"aaa", 0}, {"a", kExactCase}};

AnchorTables make_tables() {
  AnchorTables t;
  t.literal_start.push_back(0);
  for (const Anchor& anchor : kAnchors) {
    t.literals.insert(t.literals.end(), anchor.literal.begin(), anchor.literal.end());
    t.lengths.push_back(static_cast<uint8_t>(anchor.literal.size()));
    t.flags.push_back(static_cast<uint8_t>(anchor.flags));
    t.literal_start.push_back(static_cast<int32_t>(t.literals.size()));
  }
  return t;
}

KnownTables make_known() {
  KnownTables t;
  t.starts.push_back(0);
  for (const std::string value : {"mkessler", "aaaa", "aaaaaa", "hunter2hunter2", "\xff\xfe\xfd\xfc"}) {
    t.bytes.insert(t.bytes.end(), value.begin(), value.end());
    t.starts.push_back(static_cast<int32_t>(t.bytes.size()));
    const size_t offset = value.size() - 4;
    t.offsets.push_back(static_cast<int32_t>(offset));
    t.bounded.push_back(value.size() == 8);
  }
  return t;
}

/** Every number of a result leads into something that is there. */
class CheckingSink {
 public:
  CheckingSink(size_t input_bytes, size_t anchors) : input_(static_cast<int64_t>(input_bytes)), anchors_(static_cast<int32_t>(anchors)) {}

  void operator()(const ScanResult& r) {
    const auto arena = static_cast<int64_t>(r.arena.length);
    for (size_t leaf = 0; leaf < r.leaves.length; leaf++) {
      const Leaf& f = r.leaves.data()[leaf];
      require(f.parent >= -1 && f.parent < static_cast<int64_t>(leaf), "parent");
      require(f.start >= 0 && f.length >= 0 && f.start + int64_t{f.length} <= (f.source == 0 ? input_ : arena), "text");
      require(f.key_start >= 0 && f.key_length >= 0 && f.key_start + int64_t{f.key_length} <= arena, "key");
      require(f.map_count >= 0 && f.map_start >= 0 && f.map_start % 3 == 0 && f.map_start / 3 + int64_t{f.map_count} <= static_cast<int64_t>(r.maps.length), "map");
      require(f.first_candidate + int64_t{f.candidates} <= static_cast<int64_t>(r.candidates.length), "candidates");
      for (int32_t i = 0; i < f.candidates; i++) {
        const Candidate& candidate = r.candidates.data()[f.first_candidate + i];
        require(candidate.position >= 0 && candidate.position <= f.length && candidate.anchor < kFirstLiteral + anchors_, "candidate");
      }
      sum += f.candidates;
    }
    int32_t last = 0;
    for (size_t i = 0; i < r.seen.length; i++) {
      const SeenString& seen = r.seen.data()[i];
      require(seen.number >= 0 && seen.start >= 0 && seen.start <= input_, "string");
      require(seen.first >= last && seen.end >= seen.first && seen.end <= static_cast<int64_t>(r.leaves.length), "leaves of a string");
      last = seen.end;
    }
  }
  int64_t sum = 0;

 private:
  static void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(std::string("a result leads nowhere: ") + what);
  }
  int64_t input_;
  int32_t anchors_;
};

/** A scanner that remembers strings, with a reader that says of some what is known of them. */
struct Remembering {
  static constexpr size_t kStrings = 4096;
  explicit Remembering(std::shared_ptr<const Anchors> anchors, std::unique_ptr<KnownValues> known) : scanner(std::move(anchors), std::move(known)) {}
  void scan(const uint8_t* bytes, size_t length, Random& random, CheckingSink& sink) {
    scanner.remember(states.data(), states.size());
    scanner.scan(bytes, length, 0, length, [&](const ScanResult& result) {
      sink(result);
      for (size_t i = 0; i < result.seen.length; i++) states[static_cast<size_t>(result.seen.data()[i].number)] = static_cast<uint8_t>(below(random, 4));
    });
  }
  Scanner scanner;
  std::vector<uint8_t> states = std::vector<uint8_t>(kStrings);
};

/** Parts of the input are looked for in it and put in the place of each other. */
void search_and_splice(const std::string& text, Random& random) {
  Needles needles;
  std::vector<std::string> texts;
  for (size_t i = below(random, 40); i > 0 && !text.empty(); i--) {
    const std::string part = text.substr(below(random, text.size()), 4 + below(random, 30));
    const std::unique_ptr<uint8_t[]> copy(new uint8_t[part.size()]);
    std::copy(part.begin(), part.end(), copy.get());
    if (needles.add(copy.get(), part.size())) texts.push_back(part);
    else if (part.size() >= Needles::kShortest) throw std::runtime_error("a text was refused");
  }
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[text.size()]);
  std::copy(text.begin(), text.end(), bytes.get());
  Growable<NeedleFound> found;
  needles.find(bytes.get(), text.size(), found);
  size_t expected = 0;
  for (const std::string& part : texts)
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) expected++;
  if (found.length != expected) throw std::runtime_error("other places were found");
  std::vector<SpliceRange> ranges;
  std::vector<int32_t> starts{0};
  std::string stand_ins, wanted;
  size_t at = 0;
  for (size_t i = 0; i < found.length && i < 20; i++) {
    const NeedleFound& one = found.data()[i];
    if (text.compare(static_cast<size_t>(one.start), static_cast<size_t>(one.end - one.start), texts[static_cast<size_t>(one.needle)]) != 0) throw std::runtime_error("not what was looked for");
    if (static_cast<size_t>(one.start) < at) continue;
    ranges.push_back({one.start, one.end, static_cast<int32_t>(starts.size()) - 1, 1});
    const std::string stand_in = "stand-in " + std::to_string(i);
    wanted += text.substr(at, static_cast<size_t>(one.start) - at) + stand_in;
    stand_ins += stand_in;
    starts.push_back(static_cast<int32_t>(stand_ins.size()));
    at = static_cast<size_t>(one.end);
  }
  wanted += text.substr(at);
  const std::unique_ptr<uint8_t[]> out(new uint8_t[wanted.size()]);
  const StandIns table{reinterpret_cast<const uint8_t*>(stand_ins.data()), starts.data(), starts.size() - 1};
  if (!splice(bytes.get(), 0, text.size(), ranges.data(), ranges.size(), table, out.get(), wanted.size()) || std::memcmp(out.get(), wanted.data(), wanted.size()) != 0)
    throw std::runtime_error("spliced otherwise");
  if (!wanted.empty() && splice(bytes.get(), 0, text.size(), ranges.data(), ranges.size(), table, out.get(), wanted.size() - 1)) throw std::runtime_error("spliced past the end");
}

const std::vector<std::string> kSeeds = {
    R"({"a":"token mkessler","b":[1,-2.5e+3,true,false,null,{"password":"x"}],"name":"k","value":"v"})",
    R"({"text":"line\nnext \"q\" \\ \u00e9 \ud83d\ude00 \ud83d","k\u0065y":"v"})",
    R"({"inner":"{\"token\":\"a\\nb\",\"deep\":\"[\\\"mkessler\\\"]\"}"})",
    R"(C:\users\mkessler \x41 \e[31m \033[0m \u12 a%20b%3D &quot;x&amp;amp;&#39; AKIAAKIA K 5 eyJhbGciOiJIUzI1NiJ9)",
    "\x1b[31mred mkes\x1b[0msler \x1b]0;t\x07 \xe2\x80\x8b \xc2\xad \xef\xbb\xbf \x1b(",
    "bWtlc3NsZXIgdG9rZW4gbWtlc3NsZXIgdG9rZW4gbWtlc3NsZXI= 746f6b656e206d6b6573736c6572206162636465",
    "10.0.0.1 00:1b:44:11:3a:b7 fe80::1:2:3 +49 30 1234567 4111 1111 1111 1111 DE89370400440532013000",
    "\xef\xbb\xbf[\"aaaaaaaaaaaaaaa\", \"--user\", \"-p\", \"hunter2hunter2\", [[[[{}]]]]]",
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<uint8_t>(c) >= 32) out += c;
    else out += "\\n";
  }
  return out + '"';
}

std::string make_input(Random& random) {
  std::string text;
  if (below(random, 5) == 0) {
    static const std::string kFew = "\"\"\\\\{}[],:u0dD8n\n a@5K-./%&;#\x1b\xc2\xad\xe2\x80\x8bkey";
    for (size_t left = below(random, 400); left > 0; left--)
      text += below(random, 10) > 0 ? kFew[below(random, kFew.size())] : static_cast<char>(random());
    return below(random, 3) == 0 ? quoted(text) : text;
  }
  for (size_t lines = 1 + below(random, 3); lines > 0; lines--) {
    std::string line = kSeeds[below(random, kSeeds.size())];
    for (size_t wraps = below(random, 4); wraps > 0; wraps--) line = below(random, 2) == 0 ? quoted(line) : "{\"k\":" + quoted(line) + "}";
    text += line + (below(random, 4) == 0 ? "\r\n" : "\n");
  }
  if (below(random, 5000) == 0) {
    // Beyond one window.
    std::string long_text;
    while (long_text.size() < (4u << 20) + below(random, 1u << 20)) long_text += kSeeds[below(random, kSeeds.size())];
    text += quoted(long_text);
  }
  for (size_t left = below(random, 5); left > 0; left--) {
    const size_t at = below(random, text.size() + 1), length = std::min(below(random, 9), text.size() - at);
    const std::string copy = text.substr(below(random, text.size() + 1), below(random, 40));
    switch (below(random, 4)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, copy); break;
      case 2: text.insert(at, 1, static_cast<char>(random())); break;
      default: text.replace(at, length, copy);
    }
  }
  return text;
}

double seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int run(int argc, char** argv) {
  uint64_t seed = 20261201, first = 0, count = 2000;
  std::string save;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--first") first = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--count") count = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--save") save = argv[i + 1];
    else if (name != "--kind") return std::fprintf(stderr, "usage: fuzz_scan [--seed N] [--count N] [--first N] [--save FILE]\n"), 2;
  }
  Scanner anchors(std::make_shared<const Anchors>(make_tables()), nullptr), known(nullptr, std::make_unique<KnownValues>(make_known()));
  Remembering first_pass(std::make_shared<const Anchors>(make_tables()), nullptr), second_pass(nullptr, std::make_unique<KnownValues>(make_known()));
  double slowest = 0;
  int64_t found = 0;
  for (uint64_t input = first; input < first + count; input++) {
    Random random(seed * 0x9e3779b97f4a7c15u + input);
    const std::string text = make_input(random);
    if (!save.empty()) std::ofstream(save, std::ios::binary) << text;
    // A block of just this size, where a sanitizer sees every byte read beside it.
    const std::unique_ptr<uint8_t[]> bytes(new uint8_t[text.size()]);
    std::copy(text.begin(), text.end(), bytes.get());
    const size_t length = text.size();
    const double start = seconds();
    try {
      for (Scanner* scanner : {&anchors, &known}) {
        CheckingSink sink(length, kAnchors.size());
        scanner->scan(bytes.get(), length, 0, length, [&](const ScanResult& result) { sink(result); });
        found += sink.sum;
      }
      for (Remembering* pass : {&first_pass, &second_pass}) {
        CheckingSink sink(length, kAnchors.size());
        pass->scan(bytes.get(), length, random, sink);
        pass->scan(bytes.get(), length, random, sink);
      }
      if (length < 100'000) search_and_splice(text, random);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "input %llu of seed %llu: %s\n", static_cast<unsigned long long>(input), static_cast<unsigned long long>(seed), error.what());
      return 1;
    }
    const double took = seconds() - start;
    slowest = std::max(slowest, took);
    if (took > kMostSeconds + kMostSecondsPerByte * static_cast<double>(text.size())) {
      std::fprintf(stderr, "input %llu of seed %llu takes %.1f s\n", static_cast<unsigned long long>(input), static_cast<unsigned long long>(seed), took);
      return 1;
    }
  }
  std::printf("scan: %llu inputs, %lld candidates, slowest %.2f s\n", static_cast<unsigned long long>(count), static_cast<long long>(found), slowest);
  return 0;
}

}  // namespace
}  // namespace tackroom::scan

int main(int argc, char** argv) { return tackroom::scan::run(argc, argv); }
