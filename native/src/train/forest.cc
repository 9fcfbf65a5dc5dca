#include "forest.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tackroom {
namespace {

int length(const TrainRow& row) { return static_cast<int>(row.ids.size()); }

int common_prefix(const std::vector<int>& a, const std::vector<int>& b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<int>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

/** Entry i: tokens that samples[i] has in common with the sample before it. In sorted order no earlier one has more. */
std::vector<int> shared_with_previous(const std::vector<TrainRow>& rows, const std::vector<int>& samples, bool share) {
  std::vector<int> shared(samples.size(), 0);
  for (size_t i = 1; share && i < samples.size(); i++)
    shared[i] = common_prefix(rows[static_cast<size_t>(samples[i - 1])].ids, rows[static_cast<size_t>(samples[i])].ids);
  return shared;
}

struct Range {
  size_t begin, end;
};

/** Least prefix that neighbours within a range share, and the ranges between the places where it is no longer. */
int split(const std::vector<int>& shared, Range range, std::vector<Range>& parts) {
  const auto first = shared.begin() + static_cast<std::ptrdiff_t>(range.begin) + 1, last = shared.begin() + static_cast<std::ptrdiff_t>(range.end);
  const int least = *std::min_element(first, last);
  parts.clear();
  size_t begin = range.begin;
  for (size_t i = range.begin + 1; i < range.end; i++)
    if (shared[i] == least) {
      parts.push_back({begin, i});
      begin = i;
    }
  parts.push_back({begin, range.end});
  return least;
}

/** Ranges of samples whose distinct tokens fit the budget, cut at branches only, in order. */
std::vector<Range> units_of(const std::vector<int>& shared, const std::vector<int64_t>& novel_before, const std::vector<int>& lengths, int budget) {
  std::vector<Range> units, stack{{0, lengths.size()}}, parts;
  while (!stack.empty()) {
    const Range range = stack.back();
    stack.pop_back();
    const int64_t tokens = lengths[range.begin] + novel_before[range.end] - novel_before[range.begin + 1];
    if (range.end - range.begin == 1 || tokens <= budget) {
      units.push_back(range);
      continue;
    }
    split(shared, range, parts);
    stack.insert(stack.end(), parts.rbegin(), parts.rend());
  }
  return units;
}

}  // namespace

std::vector<MicroBatch> plan_micro_batches(const std::vector<TrainRow>& rows, int budget, bool share) {
  std::vector<int> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (share)
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rows[static_cast<size_t>(a)].ids < rows[static_cast<size_t>(b)].ids; });
  const std::vector<int> shared = shared_with_previous(rows, order, share);
  std::vector<int> lengths;
  std::vector<int64_t> novel_before{0};  // entry i: sum over the samples before i of what they add to their neighbour
  for (size_t i = 0; i < order.size(); i++) {
    lengths.push_back(length(rows[static_cast<size_t>(order[i])]));
    novel_before.push_back(novel_before.back() + lengths[i] - shared[i]);
  }

  struct Bin {
    MicroBatch samples;
    int64_t tokens;
    int common;  // tokens that the bin's last sample has in common with the sample that comes next
  };
  std::vector<Bin> bins;
  for (const Range& unit : units_of(shared, novel_before, lengths, budget)) {
    const int64_t tokens = lengths[unit.begin] + novel_before[unit.end] - novel_before[unit.begin + 1];
    Bin* best = nullptr;
    for (Bin& bin : bins) {
      bin.common = std::min(bin.common, shared[unit.begin]);
      if (bin.tokens + tokens - bin.common <= budget && (best == nullptr || bin.common > best->common)) best = &bin;
    }
    if (best == nullptr) best = &bins.emplace_back(Bin{{}, 0, 0});
    best->tokens += tokens - best->common;
    best->samples.insert(best->samples.end(), order.begin() + static_cast<std::ptrdiff_t>(unit.begin), order.begin() + static_cast<std::ptrdiff_t>(unit.end));
    for (size_t i = unit.begin + 1; i < unit.end; i++)
      for (Bin& bin : bins) bin.common = std::min(bin.common, shared[i]);
    best->common = std::numeric_limits<int>::max();
  }
  std::vector<MicroBatch> plan;
  for (Bin& bin : bins) plan.push_back(std::move(bin.samples));
  return plan;
}

Forest build_forest(const std::vector<TrainRow>& rows, const MicroBatch& samples, LossKind kind, bool share) {
  struct Branch {
    Range range;
    int depth, parent;
  };
  const std::vector<int> shared = shared_with_previous(rows, samples, share);
  Forest forest;
  std::vector<int> leaf(samples.size(), -1);
  std::vector<Branch> stack;
  std::vector<Range> parts;
  if (!samples.empty()) stack.push_back({{0, samples.size()}, 0, -1});
  while (!stack.empty()) {
    const Branch branch = stack.back();
    stack.pop_back();
    const TrainRow& first = rows[static_cast<size_t>(samples[branch.range.begin])];
    const bool alone = branch.range.end - branch.range.begin == 1;
    const int end = alone ? length(first) : split(shared, branch.range, parts);
    int node = branch.parent;
    if (end > branch.depth) {
      node = static_cast<int>(forest.nodes.size());
      const int begin = forest.rows();
      if (branch.parent < 0) forest.trees.push_back(node);
      forest.nodes.push_back({begin, end - branch.depth, branch.parent, branch.depth});
      for (int t = branch.depth; t < end; t++) {
        const TreeNode* parent = branch.parent < 0 ? nullptr : &forest.nodes[static_cast<size_t>(branch.parent)];
        forest.before.push_back(t > branch.depth ? forest.rows() - 1 : parent == nullptr ? -1 : parent->begin + parent->count - 1);
        forest.ids.push_back(first.ids[static_cast<size_t>(t)]);
        forest.positions.push_back(t);
      }
      forest.longest = std::max(forest.longest, end);
    }
    if (alone) leaf[branch.range.begin] = node;
    else
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) stack.push_back({*part, end, node});
  }
  forest.trees.push_back(static_cast<int>(forest.nodes.size()));

  for (size_t i = 0; i < samples.size(); i++) {
    const TrainRow& row = rows[static_cast<size_t>(samples[i])];
    for (int n = leaf[i]; n >= 0; n = forest.nodes[static_cast<size_t>(n)].parent) {
      const TreeNode& node = forest.nodes[static_cast<size_t>(n)];
      for (int p = node.depth; p < node.depth + node.count && p + 1 < length(row); p++)
        if (row.trained(kind, static_cast<size_t>(p) + 1))
          forest.terms.push_back({node.begin + p - node.depth, row.ids[static_cast<size_t>(p) + 1], samples[i], p + 1});
    }
  }
  std::stable_sort(forest.terms.begin(), forest.terms.end(), [](const LossTerm& a, const LossTerm& b) { return a.row < b.row; });
  return forest;
}

}  // namespace tackroom
