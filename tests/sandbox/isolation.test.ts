import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInSandbox } from '../../main/sandbox/run.js';
import { packageRoot } from '../../native/addon.js';
import { shell, workingDrivers } from './drivers.js';

const cases = await workingDrivers();

describe.skipIf(cases.length === 0).each(cases)('a sandbox by $label', ({ driver }) => {
  const dir = mkdtempSync(join(tmpdir(), 'tackroom-test-'));
  let host: Server;
  let port = 0;

  beforeAll(async () => {
    writeFileSync(join(dir, 'given.txt'), 'given');
    host = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    port = (host.address() as { port: number }).port;
  });
  afterAll(() => {
    host.close();
    rmSync(dir, { recursive: true });
  });

  it('passes output, input and the exit code', async () => {
    const run = await runInSandbox(driver, shell('cat; echo err >&2; exit 7'), { input: 'in' });
    expect(run).toMatchObject({ code: 7, stdout: 'in', stderr: 'err\n', limit: null });
  });

  it('tells of a signal as 128 + its number', async () => {
    expect((await runInSandbox(driver, shell('kill -SEGV $$'))).code).toBe(128 + 11);
  });

  it('has no network: a port of the host is out of reach, its own loopback works', async () => {
    const script = `
      (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo host-reached
      (exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null && echo world-reached
      cut -d: -f1 /proc/net/dev | grep -c . ; grep -o 'lo' /proc/net/dev
      python3 -c "
import socket
s=socket.create_server(('127.0.0.1',8080)); c=socket.create_connection(('127.0.0.1',8080)); print('loopback')"`;
    const run = await runInSandbox(driver, shell(script));
    expect(run.stdout).toBe('3\nlo\nloopback\n');
  });

  it('has no sockets of families that know no network namespaces', async () => {
    const script = `python3 - <<'P'
import socket
for family in range(1, 46):
    try:
        socket.socket(family, socket.SOCK_STREAM).close()
        print(family)
    except OSError as error:
        # 93 and 94: the family is there, not for streams.
        if error.errno in (93, 94): print(family)
P`;
    const run = await runInSandbox(driver, shell(script));
    expect(run.stdout.trim().split('\n').map(Number)).toEqual([1, 2, 10, 16]);
  });

  it('shows nothing of the host but what was given', async () => {
    const script = `for p in /root ${packageRoot()}/package.json ${dir} /etc/shadow /sys/kernel /var; do test -e $p && echo visible $p; done
      cat /etc/passwd | cut -d: -f1; ls /proc | grep -c '^[0-9]'; grep -c 'native/sandbox-[l]aunch' /proc/1/cmdline; whoami; hostname; cat /given/given.txt`;
    const run = await runInSandbox(
      driver,
      shell(script, { mounts: [{ source: dir, target: '/given', readonly: true }] }),
    );
    expect(run.stdout).not.toContain('visible');
    const [user, other, processes, ...rest] = run.stdout.split('\n');
    expect([user, other]).toEqual(['agent', 'nobody']);
    expect(Number(processes)).toBeLessThan(6);
    expect(rest).toEqual(['0', 'agent', 'sandbox', 'given']);
  });

  it('hides environment variables of the host', async () => {
    process.env.TACKROOM_TEST_SECRET = 'host-secret';
    const run = await runInSandbox(
      driver,
      shell('env; cat /proc/*/environ | tr "\\0" "\\n"', { env: { GIVEN: 'yes' } }),
    );
    delete process.env.TACKROOM_TEST_SECRET;
    expect(run.stdout).toContain('GIVEN=yes');
    expect(run.stdout).not.toContain('host-secret');
  });

  it('lets write only where it was allowed', async () => {
    const script = `for p in /x /usr/x /etc/x /dev/x /run/x /opt/x /ro/x /proc/sys/kernel/domainname; do (echo > $p) 2>/dev/null && echo wrote $p; done
      echo fine > /rw/made; echo fine > /tmp/made; echo fine > /dev/shm/made; cat /tmp/made /dev/shm/made`;
    const mounts = [
      { source: dir, target: '/ro', readonly: true },
      { source: dir, target: '/rw', readonly: false },
    ];
    const run = await runInSandbox(driver, shell(script, { mounts }));
    expect(run.stdout).toBe('fine\nfine\n');
    expect(readFileSync(join(dir, 'made'), 'utf8')).toBe('fine\n');
    rmSync(join(dir, 'made'));
  });

  it('gives no way back to privileges', async () => {
    const script = `grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status
      unshare -U true 2>/dev/null && echo user-namespace
      mount -t tmpfs none /tmp 2>/dev/null && echo mounted
      sleep 5 & python3 - $! <<'P'
import ctypes,sys
libc=ctypes.CDLL(None,use_errno=True); print('ptrace', libc.ptrace(16,int(sys.argv[1]),0,0), ctypes.get_errno())
print('shmget', libc.shmget(0,4096,0o1600), ctypes.get_errno())
P
      kill %1`;
    const lines = (await runInSandbox(driver, shell(script))).stdout.trim().split('\n');
    expect(lines.filter((line) => line.startsWith('Cap')).map((line) => line.replace(/.*\t/, ''))).toEqual(
      Array(5).fill('0000000000000000'),
    );
    expect(lines.slice(5)).toEqual(['NoNewPrivs:\t1', 'Seccomp:\t2', 'ptrace -1 1', 'shmget -1 1']);
  });

  it('lets nobody leave a set-user-id file', async () => {
    const script = `
      cd /tmp && touch f && chmod 4755 f 2>/dev/null; chmod 2755 f 2>/dev/null; stat -c %a f
      chmod 755 f && stat -c %a f
      python3 - <<'EOF'
import os, stat
try: os.open('g', os.O_CREAT | os.O_WRONLY, 0o4755); print('made')
except PermissionError: print('refused')
os.close(os.open('h', os.O_CREAT | os.O_WRONLY, 0o755)); print(oct(os.stat('h').st_mode & 0o7000))
EOF`;
    const run = await runInSandbox(driver, shell(script));
    expect(run.stdout.trim().split('\n')).toEqual(['644', '755', 'refused', '0o0']);
  });

  it('runs in the folder asked for and says when that is missing', async () => {
    expect((await runInSandbox(driver, shell('pwd', { cwd: '/usr/bin' }))).stdout).toBe('/usr/bin\n');
    const missing = runInSandbox(driver, shell('pwd', { cwd: '/nowhere' }));
    if (driver.name === 'userns') await expect(missing).rejects.toMatchObject({ code: 'NO_SANDBOX' });
    else expect((await missing).code).not.toBe(0);
  });
});
