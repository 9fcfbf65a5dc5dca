// Runs sandboxes as whatever user this process is and prints one JSON line about each driver.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const source = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const load = async (path) => (await runnerImport(source(path), { configFile: false })).module;
const { detectSandbox } = await load('main/sandbox/detect.ts');
const { runInSandbox } = await load('main/sandbox/run.ts');

const limits = { memoryBytes: 2 ** 28, processes: 24, cpuSeconds: 20, fileBytes: 2 ** 20, wallMs: 1500 };
const script = (text) => ({ name: 'test', argv: ['/bin/bash', '-c', text], env: {}, cwd: '/', mounts: [], limits });
for (const name of process.argv.slice(2)) {
  process.env.TACKROOM_SANDBOX = name;
  const { driver, checks } = await detectSandbox();
  if (!driver) throw new Error(JSON.stringify(checks));
  const plain = await runInSandbox(driver, script('id -u; cat /etc/shadow 2>/dev/null; python3 -c "print(6*7)"'));
  const hog = await runInSandbox(driver, script('python3 -c "x=bytearray(600*1024*1024); print(len(x))"'));
  const bomb = await runInSandbox(
    driver,
    script('b() { b | b & }; b 2>/dev/null; sleep 0.4; echo /proc/[0-9]* | wc -w'),
  );
  console.log(
    JSON.stringify({
      name,
      uid: process.getuid(),
      plain: plain.stdout,
      hog: hog.stdout,
      bomb: bomb.stdout,
      end: bomb.limit,
    }),
  );
}
