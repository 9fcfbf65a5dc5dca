/**
 * The state file of a trainer: everything a run needs to go on as if it had not stopped.
 *
 * "TACKTRN1", u64 header length, JSON header {steps, tensors: [{name, shape}]}, then weights, first and second moments as
 * flat fp32 (padding included), then the SHA-256 of all before it as 64 hex digits. Written beside and renamed.
 */
#include <unistd.h>

#include <cstring>

#include "../error.h"
#include "../file_io.h"
#include "../json.h"
#include "../sha256.h"
#include "trainer.h"

namespace tackroom {
namespace {

constexpr char kMagic[9] = "TACKTRN1";
constexpr size_t kDigest = 64;

std::string header_text(const ParamSet& params, int64_t steps, bool muon) {
  Json header = Json::object(), tensors = Json::array();
  header.set("steps", steps);
  header.set("optimizer", muon ? "muon" : "adamw");
  for (const Param& param : params.params()) {
    Json tensor = Json::object(), shape = Json::array();
    for (const int64_t extent : param.shape) shape.items().push_back(extent);
    tensor.set("name", param.name);
    tensor.set("shape", shape);
    tensors.items().push_back(tensor);
  }
  header.set("tensors", tensors);
  return header.dump();
}

}  // namespace

void Trainer::save_state(const std::string& file) {
  const std::string header = header_text(params(), optimizer_.steps, optimizer_.config().muon);
  const uint64_t header_bytes = header.size();
  const std::string staging = file + ".tmp-" + std::to_string(::getpid());
  Sha256 sha;
  FileWriter out(staging);
  const auto write = [&](const void* data, size_t bytes) {
    sha.update(data, bytes);
    out.write(data, bytes);
  };
  write(kMagic, 8);
  write(&header_bytes, 8);
  write(header.data(), header.size());
  const size_t bytes = params().floats() * sizeof(float);
  write(params().at(0), bytes);
  write(optimizer_.first.data(), bytes);
  write(optimizer_.second.data(), bytes);
  out.write(sha.hex().data(), kDigest);
  out.close();
  rename_durably(staging, file);
}

void Trainer::load_state(const std::string& path) {
  const MappedFile file(path, "IO");
  uint64_t header_bytes = 0;
  if (file.size() < 16 + kDigest || std::memcmp(file.data(), kMagic, 8) != 0) fail("IO", "%s is not a trainer state.", path.c_str());
  std::memcpy(&header_bytes, file.data() + 8, 8);
  const size_t bytes = params().floats() * sizeof(float);
  Sha256 sha;
  sha.update(file.data(), file.size() - kDigest);
  if (std::memcmp(sha.hex().data(), file.data() + file.size() - kDigest, kDigest) != 0) fail("IO", "%s is damaged or incomplete (checksum differs).", path.c_str());
  if (header_bytes > file.size() - 16 - kDigest) fail("IO", "%s has an impossible header.", path.c_str());
  const Json header = Json::parse({file.data() + 16, header_bytes});
  const Json* steps = header.find("steps");
  const int64_t saved_steps = steps == nullptr ? 0 : static_cast<int64_t>(steps->number());
  if (header.dump() != header_text(params(), saved_steps, optimizer_.config().muon) || file.size() != 16 + header_bytes + 3 * bytes + kDigest)
    fail("BAD_ARGUMENT", "%s belongs to a trainer of other tensors or another optimizer.", path.c_str());
  const char* data = file.data() + 16 + header_bytes;
  {
    std::unique_lock<std::mutex> lock;
    if (adapter_ != nullptr) lock = std::unique_lock(adapter_->mutex());
    std::memcpy(params().at(0), data, bytes);
  }
  std::memcpy(optimizer_.first.data(), data + bytes, bytes);
  std::memcpy(optimizer_.second.data(), data + 2 * bytes, bytes);
  optimizer_.steps = saved_steps;
  weights_changed();
}

}  // namespace tackroom
