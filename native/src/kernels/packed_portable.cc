/** Bodies for any processor: plain C++. There is none for bf16 products, which need instructions to be worth having. */
#include "packed_portable_impl.h"

namespace tackroom {
namespace TACKROOM_ISA {

constexpr int kRows = 8;

static void int8_block(int rows, const Int8Rows& a, int row, const PackedWeights& w, int panel, float* acc) {
  const uint8_t* data = w.data + panel * w.panel_bytes();
  const int64_t first_scale = panel * w.panel_scales();
  uint8_t u[512];
  float scale[kPanelColumns], minimum[kPanelColumns];
  for (int i = 0; i < rows * kPanelColumns; i++) acc[i] = 0;
  for (int p = 0; p < w.in; p += w.group) {
    if (p % 32 == 0) group_integers(w, data, p, u);
    load_factors(w, w.scales, first_scale + p / w.group * kPanelColumns, scale);
    if (w.minimums != nullptr) load_factors(w, w.minimums, first_scale + p / w.group * kPanelColumns, minimum);
    for (int i = 0; i < rows; i++) {
      const int64_t r = row + i;
      const int8_t* q = a.q + r * w.in + p;
      int32_t dot[kPanelColumns] = {};
      for (int e = 0; e < w.group; e += 4) {
        const uint8_t* quad = u + (p % 32 + e) * kPanelColumns;
        for (int c = 0; c < kPanelColumns; c++)
          dot[c] += quad[4 * c] * q[e] + quad[4 * c + 1] * q[e + 1] + quad[4 * c + 2] * q[e + 2] + quad[4 * c + 3] * q[e + 3];
      }
      const int32_t* sums = a.sums + r * (w.in / 16) + p / 16;
      const int32_t sum = w.group == 32 ? sums[0] + sums[1] : sums[0];
      const float by = a.scales[r * (w.in / 32) + p / 32], lift = by * static_cast<float>(sum);
      float* out = acc + i * kPanelColumns;
      for (int c = 0; c < kPanelColumns; c++) out[c] = __builtin_fmaf(static_cast<float>(dot[c] - w.offset * sum), scale[c] * by, out[c]);
      if (w.minimums != nullptr)
        for (int c = 0; c < kPanelColumns; c++) out[c] = __builtin_fmaf(minimum[c], lift, out[c]);
    }
  }
}

static void gemm_int8(int m, const Int8Rows& a, const PackedWeights& w, int begin, int end, float* c, int64_t c_row, bool accumulate) {
  float acc[kRows * kPanelColumns];
  for (int panel = begin; panel < end; panel++)
    for (int row = 0; row < m; row += kRows) {
      const int rows = m - row < kRows ? m - row : kRows, first = panel * kPanelColumns;
      const int columns = w.out - first < kPanelColumns ? w.out - first : kPanelColumns;
      int8_block(rows, a, row, w, panel, acc);
      for (int i = 0; i < rows; i++) {
        float* out = c + (row + i) * c_row + (panel - begin) * kPanelColumns;
        for (int j = 0; j < columns; j++) out[j] = accumulate ? out[j] + acc[i * kPanelColumns + j] : acc[i * kPanelColumns + j];
      }
    }
}

}  // namespace TACKROOM_ISA

void add_portable_bodies(PackedKernels& table) {
  using namespace TACKROOM_ISA;
  table = plain_table("portable", gemm_int8);
}

}  // namespace tackroom
