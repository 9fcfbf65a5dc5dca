/**
 * Rows of a training step as forests: a token prefix that several rows share is computed once.
 *
 * A micro-batch is a forest packed depth-first. A token's position is its depth; it sees the tokens on the path from its root.
 * The gradient of a shared token is the sum over the rows that go through it, so the result is that of the rows one by one.
 * A row that shares nothing is a tree of one node.
 */
#pragma once
#include <vector>

#include "losses.h"

namespace tackroom {

/** A run of tokens without a branch: rows [begin, begin + count) of the micro-batch, the first at position `depth`. */
struct TreeNode {
  int begin, count;
  int parent;  // index of a node, -1: a root
  int depth;
};

/** Row `row` predicts `target`, the token at `position` of a sample. A row may have several terms. */
struct LossTerm {
  int row, target, sample, position;
};

struct Forest {
  std::vector<int> ids, positions;  // [rows]
  std::vector<int> before;          // [rows] the row of the token before, -1 at the start of a sample
  std::vector<TreeNode> nodes;      // depth-first, parents before children
  std::vector<int> trees;           // first node of every tree, then nodes.size()
  std::vector<LossTerm> terms;      // ascending by row
  int longest = 0;                  // positions of the longest path

  int rows() const { return static_cast<int>(ids.size()); }
};

/** Samples of one micro-batch, neighbours sharing the longest prefixes. */
using MicroBatch = std::vector<int>;

/**
 * Cuts the rows into micro-batches of at most `budget` distinct tokens; a longer row stands alone. Trees stay together; one
 * that exceeds the budget is cut at its branches and its common prefix computed in each part. Without `share` no prefix
 * counts as common. Near linear in the number of tokens.
 */
std::vector<MicroBatch> plan_micro_batches(const std::vector<TrainRow>& rows, int budget, bool share);

Forest build_forest(const std::vector<TrainRow>& rows, const MicroBatch& samples, LossKind kind, bool share);

}  // namespace tackroom
