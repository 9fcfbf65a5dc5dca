/** One pass over a text: candidates, the views it should be seen in, and its runs of letters and digits that may be encoded text. */
#pragma once
#include "anchors.h"
#include "growable.h"
#include "known_values.h"
#include "layout.h"

namespace tackroom::scan {

/** Bytes of a text, from its beginning on. */
struct Run {
  int32_t from, to;
};

class TextPass {
 public:
  /** With `known` only these values are looked for; else the anchors. Both must outlive the pass. */
  TextPass(const AnchorSet* anchors, KnownValues* known) : anchors_(anchors), known_(known) {}

  /** Returns `View` bits. `runs`: as many as kEncodedMin bytes or more, longest included; null: they are not wanted. */
  int32_t look(const Text& text, Growable<Candidate>& candidates, Growable<Run>* runs);

 private:
  template <bool kLiterals>
  int32_t scan(const Text& text, Growable<Candidate>& candidates, Growable<Run>* runs);
  void probe(const Text& text, const uint8_t* at);
  void match(const Text& text, const uint8_t* at, const uint8_t* head, bool fresh, size_t first, Growable<Candidate>& candidates);

  const AnchorSet* anchors_;
  KnownValues* known_;
  /** What probes found: stands after all anchors of the text. */
  Growable<Candidate> probed_;
};

}  // namespace tackroom::scan
