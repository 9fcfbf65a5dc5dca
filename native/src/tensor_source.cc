#include "tensor_source.h"

#include <filesystem>

#include "error.h"
#include "quants.h"
#include "sources.h"

namespace tackroom {

std::unique_ptr<TensorSource> TensorSource::open(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) fail("MODEL_NOT_FOUND", "%s does not exist.", path.c_str());
  if (std::filesystem::is_directory(status)) return std::make_unique<FolderSource>(path);
  if (!path.ends_with(".gguf")) fail("MODEL_UNSUPPORTED", "%s is neither a Hugging Face folder nor a .gguf file.", path.c_str());
  return std::make_unique<GgufSource>(path);
}

const TensorView* TensorSource::find(const std::string& name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

int64_t TensorView::columns() const {
  int64_t product = 1;
  for (size_t i = 1; i < shape.size(); i++) product *= shape[i];
  return product;
}

int64_t llama_row(int64_t i, int64_t rows, int heads) {
  // A head's rows are [2, half] in Hugging Face files (rotate-half) and [half, 2] in GGUF (pairs side by side).
  const int64_t head_rows = rows / heads, half = head_rows / 2, head = i / head_rows, r = i % head_rows;
  return head * head_rows + r % half * 2 + r / half;
}

size_t row_bytes(const TensorView& view) {
  const QuantFormat& format = *quant_format(view.type);
  return static_cast<size_t>(view.columns()) / static_cast<size_t>(format.block) * static_cast<size_t>(format.bytes);
}

const uint8_t* row_data(const TensorView& view, int64_t i) {
  const int64_t at = view.permuted_heads == 0 ? i : llama_row(i, view.rows(), view.permuted_heads);
  return view.data + static_cast<size_t>(at) * row_bytes(view);
}

void read_rows(const TensorView& view, int64_t first, int64_t count, float* out, int64_t row) {
  const int64_t columns = view.columns();
  if (view.permuted_heads == 0 && row == columns) return dequantize(view.type, row_data(view, first), count * columns, out);
  for (int64_t i = 0; i < count; i++) dequantize(view.type, row_data(view, first + i), columns, out + i * row);
}

}  // namespace tackroom
