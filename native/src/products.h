/**
 * Matrix products of one parallel region, cut into pieces for the threads.
 *
 * A LoRA share needs no region of its own: the products with A come first, and a piece of the layer's own product is followed, while
 * it is in cache, by the same columns of the product with B. Pieces are taken in order, so whoever waits for A waits for a thread
 * that is computing it.
 */
#pragma once
#include <atomic>
#include <vector>

#include "model.h"

namespace tackroom {

/** Columns of the smallest piece: a multiple of every panel's width. */
constexpr int kUnitColumns = 32;

/** u = scale * x A^T [rows, rank] of one adapter's layer, and the form of it that the product with B reads. */
struct LowRank {
  const float* u = nullptr;
  int rows = 0, rank = 0;
  const Form16* form = nullptr;  // in 16 bits: [rows][form->words(rank)]
  uint16_t* u16 = nullptr;
  int8_t* q = nullptr;           // or in 8 bits, with
  float* scales = nullptr;
  int32_t* sums = nullptr;
  std::atomic<int> left{0};         // pieces of u that are not computed yet
  std::atomic<bool> ready{false};   // u is whole, and converted

  void begin(const float* to, int count, int width) {
    u = to, rows = count, rank = width;
    form = nullptr, u16 = nullptr, q = nullptr, scales = nullptr, sums = nullptr;
    left.store(0, std::memory_order_relaxed);
    ready.store(false, std::memory_order_relaxed);
  }
};

/** One matrix product: c[rows, columns] (+)= x B^T, B in one of the packed forms. */
struct Product {
  enum class Kind { Dense, Expanded, Narrow, Int8 };
  Kind kind;
  int rows, in, columns;
  const float* x;
  const Form16* form;             // Narrow
  const uint16_t* x16;
  Int8Rows x8[2];                 // Int8, and where `wide` the rest, whose product is added
  uint8_t* laid[2];               // the same as gemm_int8_laid wants it, or null
  bool wide;
  const float* panels;            // Dense
  const uint16_t* panels16;       // Narrow
  const PackedWeights* weights;   // Expanded, Int8, and Narrow where the matrix is packed
  int first_column;               // of `weights` in 8 bits; a multiple of kPanelColumns
  const float* bias;
  float* y;
  int64_t stride;
  bool accumulate;
  LowRank* gives;       // this is a product with A
  LowRank* needs;       // and this one with B
  int first_row;        // of the product that `then` hangs on
  const Product* then;  // its share of rows and columns follows each piece
};

/** Computes all of them, and what hangs on them. */
void run_products(Model& model, const std::vector<Product>& products);

}  // namespace tackroom
