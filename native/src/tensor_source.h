/**
 * Where weights come from: a Hugging Face folder (safetensors, sharded or not) or a GGUF file, seen alike.
 *
 * Both are memory-mapped and give tensors under Hugging Face names with a Hugging Face config, so that the model knows one
 * set of names. What GGUF stores differently is undone in the view: `row_order` for the permuted Q and K rows of llama,
 * slices of stacked experts under one name an expert.
 */
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "json.h"

namespace tackroom {

/** Element types of files; the values are ggml's type ids (training.md, section B5). */
enum class TensorType : uint32_t {
  F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q5_0 = 6, Q5_1 = 7, Q8_0 = 8, Q2_K = 10, Q3_K = 11, Q4_K = 12, Q5_K = 13, Q6_K = 14, IQ4_NL = 20, IQ4_XS = 23, BF16 = 30
};

struct TensorView {
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;     // outermost first; quantised types are blocks along the last axis
  const uint8_t* data = nullptr;  // bytes of the mapped file
  size_t bytes = 0;
  /** 0: rows as they lie. Otherwise row i of this tensor (as Hugging Face has it) is row llama_row(i, heads) of the file. */
  int permuted_heads = 0;

  int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  int64_t columns() const;  // product of the other extents
  bool quantised() const { return type != TensorType::F32 && type != TensorType::F16 && type != TensorType::BF16; }
};

/** Row of a llama GGUF's Q or K matrix [rows, ...] that holds row `i` of the Hugging Face matrix, and the name of a type. */
int64_t llama_row(int64_t i, int64_t rows, int heads);
const char* type_name(TensorType type);

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /** Opens a folder with config.json or a .gguf file. Throws MODEL_NOT_FOUND, MODEL_CORRUPT or MODEL_UNSUPPORTED. */
  static std::unique_ptr<TensorSource> open(const std::string& path);

  /** config.json of the folder, or the same keys made from GGUF metadata (model_type, hidden_size, rope_parameters, ...). */
  const Json& config() const { return config_; }
  const std::string& origin() const { return origin_; }  // the file or folder, for messages
  bool gguf() const { return gguf_; }
  /** By Hugging Face name; null when absent. GGUF's rope_freqs.weight keeps its name. */
  const TensorView* find(const std::string& name) const;
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }

 protected:
  Json config_;
  std::string origin_;
  bool gguf_ = false;
  std::map<std::string, TensorView> tensors_;
};

/** Rows [first, first + count) of a view as fp32, `row` floats apart (at least columns()); any type. */
void read_rows(const TensorView& view, int64_t first, int64_t count, float* out, int64_t row);

}  // namespace tackroom
