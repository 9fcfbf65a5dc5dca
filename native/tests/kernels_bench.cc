/**
 * Speed of the packed products on this processor, beside the limits measured in the same run: read bandwidth, and the peak of
 * the dot instructions.
 *
 * usage: kernels_bench [filter]     (a filter is part of a line's name, such as "int8", "decode" or "amx")
 * Shapes are those of SmolLM2-135M. The best of many runs counts, because the machine may be shared.
 */
#include <chrono>
#include <cstdlib>
#include <memory>

#include "../src/thread_pool.h"
#include "bench_peaks.h"
#include "support.h"

using namespace tackroom;
using namespace tackroom::test;

namespace {

const char* filter = "";

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Work>
double best_time(Work work, double budget = 0.6, int least = 4) {
  double best = 1e9;
  const double end = seconds() + budget;
  for (int i = 0; i < least || seconds() < end; i++) {
    const double start = seconds(), took = (work(), seconds() - start);
    best = took < best ? took : best;
  }
  return best;
}

bool wanted(const std::string& name) { return name.find(filter) != std::string::npos; }

struct Memory {
  explicit Memory(size_t bytes) : size(bytes), data(static_cast<uint8_t*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64))) {}
  Memory(const Memory&) = delete;
  ~Memory() { std::free(data); }
  size_t size;
  uint8_t* data;
};

void read_all(const Memory& memory, ThreadPool& pool) {
  static std::atomic<int64_t> sink;
  static const bool wide = cpu_info().avx512;
  const int64_t part = static_cast<int64_t>(memory.size) / 64;
  pool.run(64, [&](int t) { sink = wide ? read_loop(memory.data + t * part, part) : read_loop_plain(memory.data + t * part, part); });
}

/** The linear layers of SmolLM2-135M as one step meets them: q, k, v together, o, gate and up together, down; then the head. */
struct Layer {
  int out, in;
};
std::vector<Layer> step_layers() {
  std::vector<Layer> all;
  for (int i = 0; i < 30; i++) all.insert(all.end(), {{960, 576}, {576, 576}, {3072, 576}, {576, 1536}});
  all.push_back({49152, 576});
  return all;
}

struct Step {
  int bits;
  std::vector<Layer> layers = step_layers();
  std::vector<PackedWeights> weights;
  std::unique_ptr<Memory> memory;
  double bytes = 0, elements = 0;

  explicit Step(int b) : bits(b) {
    for (const Layer& l : layers) {
      PackedWeights w;
      w.out = l.out, w.in = l.in, w.bits = bits, w.offset = bits == 4 ? 8 : 128;
      weights.push_back(w);
      bytes += static_cast<double>(panel_count(l.out)) * static_cast<double>(w.panel_bytes() + 2 * w.panel_scales());
      elements += static_cast<double>(l.out) * l.in;
    }
    memory = std::make_unique<Memory>(static_cast<size_t>(bytes));
    for (size_t i = 0; i < memory->size; i++) memory->data[i] = static_cast<uint8_t>(bits == 16 ? (i % 2 == 0 ? i % 251 : 0x3c) : (i * 7 + i / 5) & 0x3f);
    const uint8_t* at = memory->data;
    for (PackedWeights& w : weights) {
      w.data = at;
      w.scales = at += panel_count(w.out) * w.panel_bytes();
      at += 2 * panel_count(w.out) * w.panel_scales();
    }
  }
};

const Step& step_of(int bits) {
  static std::unique_ptr<Step> steps[17];
  if (steps[bits] == nullptr) steps[bits] = std::make_unique<Step>(bits);
  return *steps[bits];
}

/** Calls body(begin, end) for parts of [0, n) on all threads. */
template <class Body>
void split(ThreadPool& pool, int n, int parts, Body body) {
  if (parts > n) parts = n;
  pool.run(parts, [&](int t) { body(static_cast<int>(int64_t{n} * t / parts), static_cast<int>(int64_t{n} * (t + 1) / parts)); });
}

void bench_step(const Body& b, int bits, ThreadPool& pool, int m) {
  const char* body = bits == 16 ? b.table.bf16.body : b.table.int8_body;
  const std::string name = text("decode %d-bit %s m %d threads %d", bits, body == nullptr ? "none" : body, m, pool.size());
  if (body == nullptr || !wanted(name)) return;
  const Step& step = step_of(bits);
  Random random{5};
  const std::vector<float> x = random_floats(static_cast<size_t>(m) * 1536, random);
  std::vector<float> c(static_cast<size_t>(m) * 49152);
  std::vector<uint16_t> a(static_cast<size_t>(m) * 1536);
  b.table.bf16.rows(x.data(), 1536, 1, m, 1536, a.data());
  const TestRows rows = quantized(b.table, x, m, 1536);
  const auto work = [&] {
    for (const PackedWeights& w : step.weights) {
      const int panels = static_cast<int>(panel_count(w.out));
      split(pool, panels, pool.size() == 1 ? 1 : panels > 1000 ? 16 : 4, [&](int begin, int end) {
        float* out = c.data() + 16 * begin;
        if (step.bits == 16)
          b.table.bf16.gemm(m, 16 * (end - begin), w.in, a.data(), w.in, reinterpret_cast<const uint16_t*>(w.data + begin * w.panel_bytes()), out, w.out,
                            false);
        else b.table.gemm_int8(m, rows.rows(), w, begin, end, out, w.out, false);
      });
    }
  };
  // Taking turns, because the bandwidth left to this machine changes within seconds.
  double time = 1e9, reading = 1e9;
  for (const double end = seconds() + 0.6; seconds() < end;) {
    time = std::fmin(time, best_time(work, 0, 2));
    reading = std::fmin(reading, best_time([&] { read_all(*step.memory, pool); }, 0, 2));
  }
  std::printf("%-42s %7.2f ms  %6.2f GB/s  %3.0f %% of reading the same\n", name.c_str(), 1e3 * time, step.bytes / time / 1e9, 100 * reading / time);
}

void bench_int8(const Body& b, ThreadPool& pool, int bits, int group, int m, int out, int in, double limit, bool minimums) {
  const std::string name = text("int8 %d-bit group %d%s %s %d x %d x %d threads %d",
                                bits, group, minimums ? " min" : "", b.table.int8_body, m, out, in, pool.size());
  if (!wanted(name)) return;
  Random random{7};
  const TestWeights weights(out, in, bits, group, 1 << (bits - 1), false, minimums, random);
  const std::vector<float> x = random_floats(static_cast<size_t>(m) * in, random);
  const TestRows rows = quantized(b.table, x, m, in);
  std::vector<float> c(static_cast<size_t>(m) * out);
  const double time = best_time([&] {
    split(pool, static_cast<int>(panel_count(out)), 2 * pool.size(),
          [&](int begin, int end) { b.table.gemm_int8(m, rows.rows(), weights.w, begin, end, c.data() + 16 * begin, out, false); });
  }, 0.4);
  const double rate = 2.0 * m * out * in / time / 1e9;
  std::printf("%-66s %8.1f GOP/s  %3.0f %% of vpdpbusd\n", name.c_str(), rate, limit > 0 ? 100 * rate / limit : 0);
}

/** `limit` is the peak of vpdpbusd, whose half is that of 16-bit integers, or of vdpbf16ps. */
void bench_form(const Form16& form, ThreadPool& pool, int m, int out, int in, double limit) {
  if (form.body == nullptr) return;
  const std::string name = text("%s %s %d x %d x %d threads %d", form.block == 0 ? "bf16" : "int16", form.body, m, out, in, pool.size());
  if (!wanted(name)) return;
  Random random{8};
  const std::vector<float> x = random_floats(static_cast<size_t>(m) * in, random), weights = random_floats(static_cast<size_t>(out) * in, random);
  const int64_t words = form.words(in);
  std::vector<uint16_t> a(static_cast<size_t>(m * words)), w(static_cast<size_t>(form.panels(out, in)));
  form.rows(x.data(), in, 1, m, in, a.data());
  form.pack(weights.data(), in, 1, out, in, w.data());
  std::vector<float> c(static_cast<size_t>(m) * out);
  const double time = best_time([&] {
    const int parts = m >= 256 ? (m + 255) / 256 / pool.size() * pool.size() : 1;
    if (parts > 1)
      split(pool, m, parts, [&](int i, int end) { form.gemm(end - i, out, in, a.data() + i * words, words, w.data(), c.data() + int64_t{i} * out, out, false); });
    else
      split(pool, static_cast<int>(panel_count(out)), 2 * pool.size(), [&](int begin, int end) {
        form.gemm(m, 16 * (end - begin), in, a.data(), words, w.data() + begin * 16 * words, c.data() + 16 * begin, out, false);
      });
  }, 0.4);
  const double rate = 2.0 * m * out * in / time / 1e9;
  std::printf("%-66s %8.1f GOP/s  %3.0f %% of the peak\n", name.c_str(), rate, limit > 0 ? 100 * rate / limit : 0);
}

/** What a loop with nothing to do costs, and how long until a helper that still spins, or one that sleeps, has joined a loop. */
void bench_regions(ThreadPool& pool) {
  if (!wanted("region")) return;
  const double time = best_time([&] {
    for (int i = 0; i < 1000; i++) pool.run(2 * pool.size(), [](int) {});
  });
  double joined[2] = {1, 1};
  for (int i = 0; i < 400; i++) {
    const int asleep = i % 4 == 0;
    if (asleep) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> inside{0};
    const double start = seconds();
    pool.run(2, [&](int) {
      inside.fetch_add(1);
      while (inside.load() < 2 && seconds() - start < 1e-3) {
      }
    });
    joined[asleep] = std::fmin(joined[asleep], seconds() - start);
  }
  std::printf("region of %d threads: %.2f us; with both at work %.2f us, from sleep %.2f us\n", pool.size(), 1e3 * time, 1e6 * joined[0], 1e6 * joined[1]);
}

void bench_conversions(const Body& b) {
  const int n = 576, k = 1536;
  Random random{9};
  const std::vector<float> x = random_floats(static_cast<size_t>(n) * k, random);
  std::vector<uint16_t> out(static_cast<size_t>(n) * k);
  std::vector<float> floats(static_cast<size_t>(n) * k);
  const auto line = [&](const char* what, double bytes, auto work) {
    const std::string name = text("convert %s level %s", what, b.name.c_str());
    if (wanted(name)) std::printf("%-66s %8.2f GB/s read and written\n", name.c_str(), bytes / best_time(work, 0.1) / 1e9);
  };
  const double size = static_cast<double>(n) * k;
  for (const Form16* form : {&b.table.bf16, &b.table.int16}) {
    const std::string kind = form->block == 0 ? "bf16" : "int16";
    out.resize(static_cast<size_t>(form->panels(n, k)));
    line(("rows " + kind).c_str(), 6 * size, [&] { form->rows(x.data(), k, 1, n, k, out.data()); });
    line(("rows transposed " + kind).c_str(), 6 * size, [&] { form->rows(x.data(), 1, n, n, k, out.data()); });
    line(("panels " + kind).c_str(), 6 * size, [&] { form->pack(x.data(), k, 1, n, k, out.data()); });
    line(("panels transposed " + kind).c_str(), 6 * size, [&] { form->pack(x.data(), 1, n, n, k, out.data()); });
  }
  line("quantize_rows", 5 * size, [&] { quantized(b.table, x, n, k); });
  const TestWeights w(n, k, 4, 32, 8, false, false, random);
  line("expand_rows 4-bit", 4.5 * size, [&] { for (int p = 0; p < n / 16; p++) b.table.expand_rows(w.w, p, floats.data() + p * 16 * k, k); });
  line("expand_depth 4-bit", 4.5 * size, [&] { b.table.expand_depth(w.w, 0, n / 16, floats.data()); });
  for (const Form16* form : {&b.table.bf16, &b.table.int16})
    line(form->block == 0 ? "expand bf16 4-bit" : "expand int16 4-bit", 2.5 * size, [&] { for (int p = 0; p < n / 16; p++) form->expand(w.w, p, out.data()); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) filter = argv[1];
  const CpuInfo cpu = cpu_info();
  std::printf("%s\n", cpu.brand);
  ThreadPool one(1), two(2);
  double vnni[3] = {}, bf16[3] = {};
  {
    const Memory memory(size_t{144} << 20);
    std::memset(memory.data, 1, memory.size);
    for (ThreadPool* pool : {&one, &two}) {
      const int threads = pool->size();
      const double bandwidth = static_cast<double>(memory.size) / best_time([&] { read_all(memory, *pool); }, 1.0);
      const auto peak = [&](void (*loop)(int64_t), double operations) {
        return threads * 50000 * operations / best_time([&] { pool->run(threads, [&](int) { loop(50000); }); }, 0.3) / 1e9;
      };
      if (cpu.avx512vnni) vnni[threads] = peak(vnni_peak_loop, 2048);
      if (cpu.avx512bf16) bf16[threads] = peak(bf16_peak_loop, 1024);
      std::printf("%d threads: reading %.1f GB/s, vpdpbusd %.0f GOP/s, vdpbf16ps %.0f GFLOP/s\n", threads, bandwidth / 1e9, vnni[threads], bf16[threads]);
    }
  }
  bench_regions(two);
  const std::vector<Body> all = bodies();
  for (const int bits : {8, 4, 16}) {
    for (size_t i = all.size(); i-- > 0;)
      for (ThreadPool* pool : {&one, &two})
        for (const int m : {1, 2, 4, 5, 8, 16, 32})
          if (i > 1 || m == 1) bench_step(all[i], bits, *pool, m);
  }
  for (size_t i = all.size(); i-- > 0;)
    for (ThreadPool* pool : {&one, &two}) {
      const int t = pool->size();
      for (const int m : {1, 2, 4, 5, 8, 16, 32, 64})
        for (const int bits : {8, 4}) bench_int8(all[i], *pool, bits, 32, m, 1536, 576, vnni[t], false);
      for (const int bits : {8, 4}) {
        bench_int8(all[i], *pool, bits, 32, 512, 1536, 576, vnni[t], false);
        bench_int8(all[i], *pool, bits, 32, 512, 576, 1536, vnni[t], false);
        bench_int8(all[i], *pool, bits, 32, 512, 2048, 2048, vnni[t], false);
        bench_int8(all[i], *pool, bits, 32, 512, 4096, 4096, vnni[t], true);
        bench_int8(all[i], *pool, bits, 16, 512, 1536, 576, vnni[t], true);
      }
      for (const Form16* form : {&all[i].table.bf16, &all[i].table.int16}) {
        const double limit = form->block == 0 ? bf16[t] : vnni[t] / 2;
        for (const int m : {1, 8, 32, 512, 2048}) bench_form(*form, *pool, m, 1536, 576, limit);
        bench_form(*form, *pool, 2048, 576, 1536, limit);
        bench_form(*form, *pool, 1024, 1024, 1024, limit);
        bench_form(*form, *pool, 512, 4096, 4096, limit);
        bench_form(*form, *pool, 512, 49152, 576, limit);
      }
    }
  for (const Body& b : all) bench_conversions(b);
  return 0;
}
