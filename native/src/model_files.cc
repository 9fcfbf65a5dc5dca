/** Model files in (Hugging Face folders and GGUF, through TensorSource) and out (Hugging Face folders). */
#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include "error.h"
#include "file_io.h"
#include "model.h"
#include "quants.h"
#include "safetensors.h"

namespace tackroom {
namespace {

/** 16-bit files below this size are computed in fp32 by default: they gain nothing from less. */
constexpr double kSmallModel = 32e6;

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); i++) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

/** Tensors that files carry although the forward pass has no use for them. */
bool may_be_left_over(const std::string& name) {
  return name.find("rotary_emb.inv_freq") != std::string::npos || name == "lm_head.weight" || name == "rope_freqs.weight";
}

}  // namespace

/** One load: decides how each matrix is held, checks everything, and only then takes memory. */
class ModelLoader {
 public:
  ModelLoader(const std::string& path, const LoadOptions& options) : options_(options), source_(TensorSource::open(path)) {}

  /** Everything that can be told from config and tables: no weight is read, no memory taken. */
  void plan() {
    const ModelConfig config = parse_config(source_->config(), source_->origin(), "MODEL_CORRUPT");
    survey();
    choose_precision();
    model_ = std::shared_ptr<Model>(new Model(config, options_.threads));
    model_->lay_out([this](const std::string& name) { return is_dense(name); });
    model_->quantisation = type_name(common_);
    model_->serving = serving_, model_->training = training_;
    check_shapes();
    refuse_unused();
    check_precision();
  }

  ModelOutline outline() {
    plan();
    return model_->outline();
  }

  std::shared_ptr<Model> run() {
    plan();
    model_->weights.allocate();
    read_small();
    pack();
    model_->repack();
    if (total_ >= kSmallModel) model_->pool.worth_sharing = 6e3, model_->pool.spins = 12'000;
    std::vector<float> factors;
    if (const TensorView* view = source_->find("rope_freqs.weight")) {
      factors.resize(static_cast<size_t>(model_->config.head_dim) / 2);
      read_rows(*view, 0, view->rows(), factors.data(), view->columns());
    }
    model_->set_ropes(factors);
    if (model_->embedding == kAbsent) {
      model_->embedding_rows_ = view("model.embed_tokens.weight");
      if (!all_finite(*model_->embedding_rows_)) corrupt("model.embed_tokens.weight", "holds values that are not numbers");
      model_->source_ = std::move(source_);
    }
    return model_;
  }

 private:
  [[noreturn]] void corrupt(const std::string& name, const std::string& what) const {
    fail("MODEL_CORRUPT", "The tensor %s of %s %s.", name.c_str(), source_->origin().c_str(), what.c_str());
  }

  const TensorView* view(const std::string& name) const {
    const TensorView* found = source_->find(name);
    if (found == nullptr) fail("MODEL_CORRUPT", "%s has no tensor %s.", source_->origin().c_str(), name.c_str());
    return found;
  }

  /** Counts the elements of the matrices by type. */
  void survey() {
    std::map<TensorType, double> elements;
    for (const auto& [name, tensor] : source_->tensors()) {
      const double count = static_cast<double>(tensor.rows()) * static_cast<double>(tensor.columns());
      total_ += count;
      if (tensor.shape.size() == 2) elements[tensor.type] += count;
      quantised_ = quantised_ || tensor.quantised();
    }
    double most = -1;
    for (const auto& [type, count] : elements)
      if (count > most) most = count, common_ = type;
  }

  void choose_precision() {
    const bool has_bf16 = packed_kernels().bf16.gains;
    const Precision faster = has_bf16 ? Precision::Bf16 : packed_kernels().int16.gains ? Precision::Int16 : Precision::Fp32;
    const bool narrow = common_ == TensorType::F16 || common_ == TensorType::BF16;
    const std::string& wanted = options_.precision;
    if (wanted == "auto") {
      serving_ = quantised_ ? Precision::Int8 : narrow && has_bf16 && total_ >= kSmallModel ? Precision::Bf16 : Precision::Fp32;
      // F16 is held in fp32 where it is served so.
      const bool packed16 = common_ == TensorType::BF16 && total_ >= kSmallModel;
      training_ = quantised_ || packed16 || serving_ == Precision::Bf16 ? faster : Precision::Fp32;
    } else if (wanted == "int8") {
      serving_ = Precision::Int8;
      training_ = faster;
    } else if (wanted == "bf16") {
      serving_ = training_ = Precision::Bf16;
    } else if (wanted == "int16") {
      serving_ = training_ = Precision::Int16;
    } else if (wanted == "fp32") {
      serving_ = training_ = Precision::Fp32;
    } else {
      fail("BAD_ARGUMENT", "\"%s\" is no precision; there are fp32, bf16, int16, int8 and auto.", wanted.c_str());
    }
    if (options_.trainable) serving_ = training_ = Precision::Fp32;
  }

  bool is_dense(const std::string& name) const {
    if (options_.trainable) return true;
    const TensorView* tensor = source_->find(name);
    if (tensor == nullptr || tensor->quantised()) return tensor == nullptr;
    if (serving_ != Precision::Fp32) return false;
    return tensor->type != TensorType::BF16 || total_ < kSmallModel;
  }

  void check_shape(const std::string& name, const std::vector<int64_t>& shape) {
    const TensorView* tensor = view(name);
    const bool same = tensor->shape == shape || (shape.size() == 3 && shape[1] == 1 && tensor->shape == std::vector<int64_t>{shape[0], shape[2]});
    if (!same) corrupt(name, "has the shape " + shape_text(tensor->shape) + " where " + shape_text(shape) + " is expected");
    wanted_.insert(name);
  }

  /** All shapes are checked before memory is taken: a wrong number in a config must not become a huge allocation. */
  void check_shapes() {
    for (const Param& param : model_->weights.params()) check_shape(param.name, param.shape);
    for (Linear* linear : model_->linears())
      for (LinearPart& part : linear->parts)
        if (part.weight == kAbsent) {
          check_shape(part.name + ".weight", {part.out, linear->in});
          const TensorView* tensor = view(part.name + ".weight");
          if (linear->in % kInt8Group != 0 && tensor->quantised()) corrupt(part.name, "is quantised along a width that is no multiple of 32");
          part.packed = PackedMatrix::describe(*tensor);
          model_->dense_ = false;
        }
    if (model_->embedding == kAbsent) check_shape("model.embed_tokens.weight", {model_->config.vocab, model_->config.hidden});
    if (const TensorView* factors = source_->find("rope_freqs.weight"); factors != nullptr && factors->rows() * factors->columns() != model_->config.head_dim / 2)
      corrupt("rope_freqs.weight", "has the wrong size");
  }

  /** Of a precision that was asked for: whether the processor and every matrix of the file have products for it. */
  void check_precision() const {
    if (serving_ == Precision::Bf16 && packed_kernels().bf16.body == nullptr)
      fail("BAD_ARGUMENT", "The precision bf16 needs a processor with AVX-512; use fp32, int16 or auto here.");
    if (serving_ != Precision::Int8) return;
    if (!quantised_)
      fail("BAD_ARGUMENT", "The weights of %s are not quantised but %s, and the precision int8 is for quantised files; use fp32, bf16, int16 or auto.",
           source_->origin().c_str(), type_name(common_));
    for (const Linear* linear : model_->linears())
      for (const LinearPart& part : linear->parts)
        if (const TensorView* tensor = view(part.name + ".weight"); !tensor->quantised())
          fail("MODEL_UNSUPPORTED", "%s holds %s as %s among quantised matrices, which the precision int8 does not read; use fp32, bf16 or int16.",
               source_->origin().c_str(), part.name.c_str(), type_name(tensor->type));
  }

  /** A tensor nobody reads means that the config describes another model, with fewer layers for instance. */
  void refuse_unused() const {
    for (const auto& [name, tensor] : source_->tensors())
      if (wanted_.count(name) == 0 && !may_be_left_over(name))
        fail("MODEL_CORRUPT", "The weights hold a tensor %s that %s does not provide for.", name.c_str(), source_->origin().c_str());
  }

  /** Everything that is held in fp32. One NaN poisons every answer without an error anywhere: better said at load. */
  void read_small() {
    const auto& params = model_->weights.params();
    std::vector<uint8_t> bad(params.size(), 0);
    model_->pool.run(static_cast<int>(params.size()), [&](int i) {
      const Param& param = params[static_cast<size_t>(i)];
      const TensorView& tensor = *source_->find(param.name);
      float* values = model_->weights.at(param.offset);
      read_rows(tensor, 0, tensor.rows(), values, tensor.columns());
      for (size_t j = 0; j < param.size; j++)
        if (!std::isfinite(values[j])) bad[static_cast<size_t>(i)] = 1;
    });
    int64_t count = 0;
    for (size_t i = 0; i < params.size(); i++) {
      if (bad[i] != 0) corrupt(params[i].name, "holds values that are not numbers");
      count += static_cast<int64_t>(params[i].size);
    }
    model_->parameters_ = count;
  }

  /** All packed matrices in one piece of memory, in the order in which a token meets them. */
  void pack() {
    std::map<std::string, int64_t> counted;
    size_t bytes = 0;
    for (const Linear* linear : model_->linears())
      for (const LinearPart& part : linear->parts)
        if (part.packed != nullptr) bytes += part.packed->bytes();
    auto* memory = reinterpret_cast<uint8_t*>(model_->packed_.reserve(bytes / sizeof(float)));
    for (Linear* linear : model_->linears())
      for (LinearPart& part : linear->parts) {
        if (part.packed == nullptr) continue;
        const TensorView& tensor = *view(part.name + ".weight");
        if (!all_finite(tensor)) corrupt(part.name, "holds values that are not numbers");
        part.packed->fill(tensor, model_->pool, memory);
        memory += part.packed->bytes();
        counted[part.name] = static_cast<int64_t>(part.out) * linear->in;
      }
    if (model_->embedding == kAbsent) counted["model.embed_tokens"] = static_cast<int64_t>(model_->config.vocab) * model_->config.hidden;
    for (const auto& [name, count] : counted) model_->parameters_ += count;
  }

  const LoadOptions& options_;
  std::unique_ptr<TensorSource> source_;
  std::shared_ptr<Model> model_;
  std::set<std::string> wanted_;
  Precision serving_ = Precision::Fp32, training_ = Precision::Fp32;
  TensorType common_ = TensorType::F32;
  bool quantised_ = false;
  double total_ = 0;
};

std::shared_ptr<Model> Model::load(const std::string& path, const LoadOptions& options) { return ModelLoader(path, options).run(); }

void Model::check(const std::string& path) {
  LoadOptions options;
  options.threads = 1;
  ModelLoader(path, options).plan();
}

ModelOutline Model::outline(const std::string& path, const LoadOptions& options) { return ModelLoader(path, options).outline(); }

void Model::save(const std::string& dir, bool bf16, const std::vector<std::string>& beside) const {
  if (!dense_) fail("BAD_ARGUMENT", "A model that is held quantised or in 16 bits cannot be saved; load it with all weights trainable.");
  Json source = config.source;
  const char* dtype = bf16 ? "bfloat16" : "float32";
  if (source.find("torch_dtype") != nullptr) source.set("torch_dtype", dtype);
  source.set("dtype", dtype);
  if (source.find("architectures") == nullptr) {
    Json names = Json::array();
    names.items().push_back(config.architecture->auto_class);
    source.set("architectures", names);
  }
  AtomicFolder folder(dir);
  const std::string text = source.dump(2) + "\n";
  FileWriter file(folder.path() + "/config.json");
  file.write(text.data(), text.size());
  file.close();
  write_safetensors(folder.path() + "/model.safetensors", weights, bf16 ? FileType::BF16 : FileType::F32);
  for (const std::string& path : beside) folder.copy(path);
  folder.commit();
}

}  // namespace tackroom
