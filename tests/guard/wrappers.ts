/** Ways to run a command that do not change what it does. */
const q = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const json = JSON.stringify;

export const WRAPPERS: Record<string, (command: string) => string> = {
  'sh -c': (c) => `sh -c ${q(c)}`,
  'bash -lc behind wrappers': (c) => `sudo -E env A=1 timeout 60 nohup bash -lc ${q(c)}`,
  eval: (c) => `eval ${q(c)}`,
  'eval of a variable': (c) => `C=${q(c)}; eval "$C"`,
  'base64 into sh': (c) => `echo ${base64(c)} | base64 -d | sh`,
  'base64 in eval': (c) => `eval "$(printf %s ${base64(c)} | base64 --decode)"`,
  'hex into bash': (c) => `echo ${hex(c)} | xxd -r -p | bash`,
  'here-string': (c) => `bash <<< ${q(c)}`,
  'a here-string after a here-document': (c) => `bash <<'OTHER' <<< ${q(c)}\ntrue\nOTHER`,
  'a here-document after a here-string': (c) => `bash <<< true <<'WRAP'\n${c}\nWRAP`,
  'process substitution': (c) => `bash <(echo ${base64(c)} | base64 -d)`,
  'a group': (c) => `{ ${c}\n}`,
  'a subshell in the background': (c) => `(${c}\n) &`,
  'behind another command': (c) => `cd /app && true; ${c}`,
  'a function': (c) => `run() {\n${c}\n}\nrun`,
  'a loop': (c) => `for i in 1 2; do\n${c}\ndone`,
  'a file, then run': (c) => `echo ${base64(c)} | base64 -d > /tmp/r.sh; sh /tmp/r.sh`,
  'a file made executable': (c) => `echo ${base64(c)} | base64 -d > run.sh && chmod +x run.sh && ./run.sh`,
  'python os.system': (c) => `python3 -c ${q(`import os; os.system(${json(c)})`)}`,
  'python subprocess': (c) => `python3 -c ${q(`import subprocess as s\ns.run(["bash", "-c", ${json(c)}])`)}`,
  'python base64': (c) => `python3 -c ${q(`import os,base64; os.system(base64.b64decode("${base64(c)}").decode())`)}`,
  'python from a here-document': (c) => `python3 - <<'WRAP'\nimport os\nos.popen(${json(c)}).read()\nWRAP`,
  'node execSync': (c) => `node -e ${q(`require("child_process").execSync(${json(c)})`)}`,
  perl: (c) => `perl -e ${q(`system("echo ${base64(c)} | base64 -d | sh")`)}`,
  ruby: (c) => `ruby -e ${q(`system(${json(c)})`)}`,
  xargs: (c) => `echo ${base64(c)} | base64 -d | xargs -0 -I{} sh -c '{}'`,
  'find -exec': (c) => `find . -maxdepth 0 -exec sh -c ${q(c)} \\;`,
  'a git alias': (c) => `git -c alias.x=${q(`!${c}`)} x`,
  'a Makefile': (c) => `printf 'all:\\n\\techo ${base64(c)} | base64 -d | sh\\n' > Makefile; make`,
  tmux: (c) => `tmux new-session -d ${q(c)}`,
};
