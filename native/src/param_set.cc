#include "param_set.h"

namespace tackroom {

size_t ParamSet::add(std::string name, std::vector<int64_t> shape, ParamKind kind) {
  size_t size = 1;
  for (const int64_t extent : shape) size *= static_cast<size_t>(extent);
  const size_t offset = floats_;
  index_.emplace(name, params_.size());
  params_.push_back({std::move(name), std::move(shape), kind, offset, size});
  floats_ += (size + 15) / 16 * 16;
  return offset;
}

const Param* ParamSet::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &params_[found->second];
}

size_t ParamSet::elements() const {
  size_t total = 0;
  for (const Param& param : params_) total += param.size;
  return total;
}

}  // namespace tackroom
