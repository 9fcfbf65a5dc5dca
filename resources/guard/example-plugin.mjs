// A guard plugin: a module with a list `rules`. Two expressions keep an agent that trains on data questions away from the
// answers: the data set they were taken from, and the folder of the grader. `tackroom guard check --plugin THIS_FILE`.
const ACTS = ['command', 'code', 'argument', 'payload', 'query', 'url', 'read', 'write'];

export const rules = [
  {
    id: 'example.answer_source',
    severity: 'high',
    title: 'it goes for the data set that the answers come from',
    on: ACTS,
    pattern: /jupyter-agent-kaggle/i,
  },
  {
    id: 'example.grader',
    severity: 'high',
    title: "it goes for the grader's folder",
    on: ACTS,
    pattern: /(?<![\w./-])\/tests\/grader/i,
  },
];
