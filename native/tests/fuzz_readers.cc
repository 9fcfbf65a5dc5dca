/**
 * Throws damaged files at the readers: no crash, only errors with a code, bounded time and memory for every input.
 *
 * usage: fuzz_readers [--seed N] [--count N] [--first N] [--kind folder|gguf|peft|lora] [--save DIR]
 * Input i of a kind follows from the seed and i alone, so a failure is repeated with --first i --count 1; --save writes
 * its files. Limits of one input: 16 MB + 4 bytes a byte of its files in `new`, 2 s of the processor. Meant to be built with the address
 * and undefined-behaviour sanitizers. Exit status 1 on the first failure.
 */
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>

#include "adapter_source.h"
#include "error.h"
#include "file_io.h"
#include "fuzz_mutations.h"
#include "heap_file.h"
#include "inspect.h"
#include "packed_matrix.h"
#include "quants.h"
#include "sources.h"

namespace {

size_t live_bytes = 0, peak_bytes = 0;

void* counted(size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(memory);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return memory;
}

void uncounted(void* memory) {
  if (memory != nullptr) live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) { return counted(bytes); }
void* operator new[](size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, size_t) noexcept { uncounted(memory); }

namespace tackroom {
namespace {

constexpr size_t kFreeBytes = 16u << 20, kBytesPerByte = 4;
constexpr double kMostSeconds = 2;

/** Of the processor: waiting for a busy machine is nobody's fault. */
double seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/** Reads what a model would: every view must be backed by bytes of the file. */
void use(const std::map<std::string, TensorView>& tensors, ThreadPool& pool, bool pack, double& sum) {
  size_t looked = 0;
  std::vector<float> row;
  for (const auto& [name, view] : tensors) {
    if (looked++ == 200) break;
    const int64_t rows = view.rows(), columns = view.columns();
    if (rows == 0 || columns == 0 || columns > 1 << 16) continue;
    sum += all_finite(view) ? 1 : 0;
    row.resize(static_cast<size_t>(columns));
    for (const int64_t i : {int64_t{0}, rows / 2, rows - 1}) {
      read_rows(view, i, 1, row.data(), columns);
      sum += row.back();
    }
    if (pack && view.shape.size() == 2 && rows <= 256) sum += static_cast<double>(PackedMatrix::pack(view, pool)->bytes());
  }
}

void read_input(const FuzzInput& input, FuzzKind kind, ThreadPool& pool, bool pack, double& sum) {
  if (kind == FuzzKind::Folder || kind == FuzzKind::Gguf) {
    std::unique_ptr<TensorSource> source;
    if (kind == FuzzKind::Folder) source = std::make_unique<FolderSource>("");
    else source = std::make_unique<GgufSource>("/input.gguf");
    sum += static_cast<double>(summarise(*source).parameters) + static_cast<double>(source->config().dump().size());
    use(source->tensors(), pool, pack, sum);
    return;
  }
  // The root is a folder that is always there; its files are the input's.
  const AdapterSource source = AdapterSource::open(kind == FuzzKind::Peft ? "/" : "/input.gguf", {input.model_type, 2, 4, 2});
  use(source.tensors, pool, false, sum);
}

bool known_code(const std::string& code, FuzzKind kind) {
  if (kind == FuzzKind::Folder || kind == FuzzKind::Gguf) return code == "MODEL_NOT_FOUND" || code == "MODEL_CORRUPT" || code == "MODEL_UNSUPPORTED";
  return code == "ADAPTER_CORRUPT" || code == "ADAPTER_MISMATCH";
}

struct Options {
  uint64_t seed = 20261129, first = 0, count = 2000;
  std::string kind, save;
};

struct Outcome {
  size_t accepted = 0, slowest = 0;
  double most_seconds = 0, most_memory = 0;
  std::map<std::string, size_t> codes;
};

std::string run_one(const FuzzInput& input, FuzzKind kind, ThreadPool& pool, bool pack, Outcome& outcome) {
  heap_files().clear();
  for (const auto& [name, text] : input.files) heap_files()[(kind == FuzzKind::Peft ? "//" : "/") + name] = text;
  const size_t before = live_bytes, limit = kFreeBytes + kBytesPerByte * input.bytes();
  peak_bytes = live_bytes;
  const double start = seconds();
  double sum = 0;
  try {
    read_input(input, kind, pool, pack, sum);
    outcome.accepted++;
  } catch (const EngineError& error) {
    if (!known_code(error.code, kind)) return std::string("the code ") + error.code + ": " + error.what();
    outcome.codes[error.code]++;
  } catch (const std::exception& error) {
    return std::string("an exception without a code: ") + error.what();
  }
  const double took = seconds() - start;
  const size_t memory = peak_bytes - before;
  outcome.most_seconds = std::max(outcome.most_seconds, took);
  outcome.most_memory = std::max(outcome.most_memory, static_cast<double>(memory) / static_cast<double>(limit));
  if (took > kMostSeconds) return "it took " + std::to_string(took) + " s";
  if (memory > limit) return "it took " + std::to_string(memory) + " bytes of memory, " + std::to_string(limit) + " are allowed";
  return "";
}

void save_input(const FuzzInput& input, const std::string& dir) {
  std::filesystem::create_directories(dir);
  for (const auto& [name, text] : input.files) {
    FileWriter file(dir + "/" + name);
    file.write(text.data(), text.size());
    file.close();
  }
}

bool run_kind(FuzzKind kind, const Options& options, ThreadPool& pool) {
  const auto seeds = fuzz_seeds(kind);
  const char* name = kKindNames[static_cast<int>(kind)];
  Outcome outcome;
  for (const FuzzInput& seed : seeds) {
    const std::string failure = run_one(seed, kind, pool, true, outcome);
    if (failure.empty() && outcome.codes.empty()) continue;
    std::printf("%s: a valid input is refused: %s\n", name, failure.c_str());
    return false;
  }
  const double start = seconds();
  for (uint64_t i = options.first; i < options.first + options.count; i++) {
    Random random(options.seed * 0x9E3779B97F4A7C15u + i * 4 + static_cast<uint64_t>(kind));
    FuzzInput input = seeds[random() % seeds.size()];
    mutate(input, seeds[random() % seeds.size()], kind, random);
    if (!options.save.empty() && options.count == 1) save_input(input, options.save);
    const std::string failure = run_one(input, kind, pool, random() % 8 == 0, outcome);
    if (failure.empty()) continue;
    std::printf("%s: input %llu of seed %llu: %s\n", name, static_cast<unsigned long long>(i), static_cast<unsigned long long>(options.seed), failure.c_str());
    return false;
  }
  std::printf("%s: %llu inputs in %.1f s of the processor, %zu accepted", name, static_cast<unsigned long long>(options.count), seconds() - start, outcome.accepted - seeds.size());
  for (const auto& [code, count] : outcome.codes) std::printf(", %zu %s", count, code.c_str());
  std::printf("; at most %.3f s and %.0f %% of the memory limit\n", outcome.most_seconds, 100 * outcome.most_memory);
  std::fflush(stdout);
  return true;
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--seed") options.seed = std::stoull(value);
    else if (key == "--count") options.count = std::stoull(value);
    else if (key == "--first") options.first = std::stoull(value);
    else if (key == "--kind") options.kind = value;
    else if (key == "--save") options.save = value;
    else return std::printf("unknown option %s\n", argv[i]), 2;
  }
  ThreadPool pool(1);
  for (const FuzzKind kind : {FuzzKind::Folder, FuzzKind::Gguf, FuzzKind::Peft, FuzzKind::Lora})
    if ((options.kind.empty() || options.kind == kKindNames[static_cast<int>(kind)]) && !run_kind(kind, options, pool)) return 1;
  return 0;
}

}  // namespace
}  // namespace tackroom

int main(int argc, char** argv) { return tackroom::run(argc, argv); }
