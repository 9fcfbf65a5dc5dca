/** Names of people and machines, addresses and numbers, where tools print them. */
import type { Random } from '../../engine/tokenizer/fuzz-random.js';
import { added, arrowGutter, coloured, composeLog, grepped, numbered, quoted, table } from './decorate.js';
import { Make, UPPER } from './make.js';
import { area, CaseList, type OwnCase, s } from './mark.js';

export function personalCases(random: Random): OwnCase[] {
  const m = new Make(random);
  const list = new CaseList('personal');
  const mail = (): string => s(m.person().mail);
  const name = (): string => s(m.person().full);
  const host = (): string => s(m.host());
  /** A name that no tool knows as its own: it must be learnt where it stands. */
  const user = (): string => s(m.person().user);
  const home = (root = '/home/'): string => area(root, m.person().user);

  list.add(
    'email',
    `git config --global user.email "${mail()}"`,
    `To: ${mail()}\nSubject: nightly build`,
    `"maintainers": [{ "email": "${mail()}" }],`,
    `<a href="mailto:${mail()}">Write to us</a>`,
    `GET /api/users?email=${s(m.person().mail.replace('@', '%40'))} 200 12ms`,
    table([
      ['id', 'email'],
      ['1', mail()],
      ['2', mail()],
    ]),
    `INSERT INTO users (email) VALUES ('${mail()}'), ('${mail()}');`,
    `ssh-keygen -t ed25519 -C "${mail()}"`,
    `certbot certonly -m ${mail()} -d app.example.com`,
    `LABEL maintainer="${mail()}"`,
    `550 5.1.1 <${mail()}>: Recipient address rejected`,
    `{"email":"${s(m.person().mail.replace('@', '\\u0040'))}"}`,
    `Logged in as ${mail()}.`,
    coloured(`✔ Account: ${mail()}`),
  );
  list.add(
    'git-person',
    `Co-authored-by: ${name()} <${mail()}>`,
    `git log -1 --format='%an <%ae>'\n${name()} <${mail()}>`,
    `^3f2a9c1d (${name()} 2026-02-03 08:15:42 +0100 12) return total;`,
    `GIT_AUTHOR_NAME='${name()}' GIT_AUTHOR_EMAIL=${mail()} git commit --amend`,
    `author ${name()}\nauthor-mail <${mail()}>\nauthor-time 1770106542`,
    `authors = ["${name()} <${mail()}>"]`,
    `From 3f2a9c1d Mon Sep 17 00:00:00 2001\nFrom: ${name()} <${mail()}>\nSubject: [PATCH] fix`,
    `Reviewed-by: ${name()} <${mail()}>`,
    `[user]\n\tname = ${name()}\n\temail = ${mail()}`,
    `* 3f2a9c1 - fix: guard (2 hours ago) <${name()}>`,
    `tagger ${name()} <${mail()}> 1770106542 +0100`,
    `{"author":{"name":"${name()}","email":"${mail()}","date":"2026-02-03T08:15:42Z"}}`,
    quoted(`On Tue, 3 Feb 2026, ${name()} <${mail()}> wrote:`),
  );
  list.add(
    'home-path-linux',
    `ModuleNotFoundError: File "${home()}/proj/app/main.py", line 7, in <module>`,
    `file://${home()}/proj/app/report.html`,
    `PATH=${home()}/.cargo/bin:/usr/local/bin:/usr/bin`,
    grepped(`const root = '${home()}/data';`, 'src/paths.ts'),
    `export default { cacheDir: "${home()}/.cache/app" }`,
    `{"workspaceFolder":"${home().replace('/home/', '\\/home\\/')}\\/proj"}`,
    `vscode-remote://ssh-remote+box${home()}/proj`,
    `-v ${home()}/proj:/app -v /var/run/docker.sock:/var/run/docker.sock`,
    `WorkingDirectory=${home()}/bot`,
    `ENOENT: no such file or directory, open '${home()}/.config/app/settings.json'`,
    added(`prefix=${home()}/.npm-global`, '.npmrc'),
    `GET /@fs${home()}/proj/node_modules/vite/dist/client/env.mjs 200`,
    `uri=file%3A%2F%2F${area('%2Fhome%2F', m.person().user)}%2Fproj%2Fa.py`,
    `find ${home('/var/home/')} -name '*.log'`,
    `/tmp/pytest-of-${user()}/pytest-12/test_run0/out.txt`,
    `umask 022 && ls ${home('/export/home/')}/src`,
  );
  list.add(
    'home-path-macos',
    `${home('/Users/')}/.nvm/versions/node/v22.11.0/bin/node`,
    `xcodebuild -derivedDataPath ${home('/Users/')}/Library/Developer/Xcode/DerivedData`,
    `"preview": "file://${home('/Users/')}/Desktop/Screenshot%202026-02-03.png"`,
    `diff ${home('/Users/')}/a.txt ${home('/Users/')}/b.txt`,
    `dyld: Library not loaded: ${home('/Users/')}/lib/libfoo.dylib`,
  );
  list.add(
    'home-path-windows',
    `PS ${area('C:\\Users\\', m.person().user)}\\source\\app> dotnet build`,
    `"${area('C:\\\\Users\\\\', m.person().user)}\\\\AppData\\\\Local\\\\Temp\\\\a.txt"`,
    `${area('C:/Users/', m.person().user)}/Documents/app/package.json`,
    `${area('/c/Users/', m.person().user)}/AppData/Local/Programs/Git`,
    `USERPROFILE=${area('C:\\Users\\', m.person().user)}`,
    `file:///${area('C:/Users/', m.person().user)}/repo/index.html`,
    `error CS1002 in ${area('d:\\users\\', m.person().user)}\\repo\\Program.cs(14,9)`,
    `file:///c%3A/${area('Users/', m.person().user)}/repo/a.ts`,
  );
  list.add(
    'home-path-wsl',
    `cd ${home('/mnt/c/Users/')}/repo`,
    `\\\\wsl.localhost\\Ubuntu-24.04${area('\\home\\', m.person().user)}\\repo`,
    `//wsl$/Debian${home()}/repo/a.py`,
    `explorer.exe "\\\\\\\\wsl$\\\\Ubuntu${area('\\\\home\\\\', m.person().user)}\\\\repo"`,
  );
  const slugUser = (): string => s(m.person().user.replace('.', '-'));
  list.add(
    'project-slug',
    `~/.claude/projects/-home-${slugUser()}-proj-app/session.jsonl`,
    `ls ~/.claude/projects\n-Users-${slugUser()}-work-app\n-workspace-app`,
    `.pi/agent/sessions/--home-${slugUser()}-proj-app--/a.jsonl`,
    `C--Users-${slugUser()}-source-app`,
    `"transcript_path":"/root/.claude/projects/-home-${slugUser()}-app/a.jsonl"`,
  );
  const owner = m.person().user;
  list.add(
    'ls-owner',
    `total 8\ndrwxrwxr-x 3 ${user()} docker 4096 Feb  3 08:15 src\n-rw-rw-r-- 1 root root  220 Feb  3 08:15 Makefile`,
    `.rw-r--r-- 1.2k ${user()}  3 Feb 08:15 README.md`,
    `${s(owner)}     41512  0.3  1.2 1188420 98124 pts/2 Sl+  08:15   0:03 node server.js`,
    `-rwxr-xr-x  1 ${user()}  staff  8432  3 Feb 08:15 run.sh`,
    `  File: a.txt\nAccess: (0644/-rw-r--r--)  Uid: ( 1000/${s(owner)})   Gid: ( 1000/${s(owner)})`,
    `srwxrwx--- 1 root root 0 Feb 3 08:15 a.sock\nlrwxrwxrwx 1 ${user()} users 11 Feb 3 08:15 b -> c`,
  );
  list.add(
    'whoami-id',
    `${s(owner)}:x:1000:1000:${name()},,,:${area('/home/', owner)}:/bin/zsh`,
    `$ whoami\n${user()}`,
    `[sudo] password for ${user()}: \nSorry, try again.`,
    `${user()} is not in the sudoers file.`,
    `${s(owner)}  pts/0        2026-02-03 08:15 (tmux)`,
    `uid=501(${user()}) gid=20(staff) groups=20(staff),12(everyone)`,
    `USERNAME=${user()}\nUSERDOMAIN=CORP`,
    `sudo -u ${user()} crontab -l`,
    `chown -R ${s(owner)}:${s(owner)} /srv/app`,
  );
  list.add(
    'shell-prompt',
    `${user()}@${host()}:/srv/app$ make test\nmake: *** No rule to make target 'test'.`,
    `[${user()}@${host()} app]$ cargo build`,
    `┌──(${user()}㉿${host()})-[~/app]\n└─$ nmap localhost`,
    `\u001b[01;32m${user()}@${host()}\u001b[00m:\u001b[01;34m~/app\u001b[00m$ ls`,
    `${user()}@${host()} ~/proj (main)> fish --version`,
    `${user()}@${host()} MINGW64 ~/app (main)\n$ npm ci`,
  );
  list.add(
    'hostname',
    `$ hostname\n${host()}`,
    `HOSTNAME=${host()}\nSHELL=/bin/bash`,
    `Feb  3 08:15:42 ${host()} systemd[1]: Started app.service.`,
    `Darwin ${s(`${m.host()}.local`)} 24.1.0 Darwin Kernel Version 24.1.0 arm64`,
    `COMPUTERNAME=${host()}`,
    `127.0.1.1\t${host()}`,
    `Host Name:                 ${host()}\nOS Name:                   Microsoft Windows 11 Pro`,
    `{"hostname":"${host()}","pid":412,"level":30,"msg":"listening"}`,
    `node_uname_info{nodename="${host()}",release="6.8.0"} 1`,
    `Chassis: laptop\nStatic hostname: ${host()}`,
  );
  list.add(
    'ssh-target',
    `scp -P 2222 build.tgz ${user()}@${s(`build.${m.domain()}`)}:/srv/in/`,
    `Host prod\n  HostName ${s(`prod-1.${m.domain()}`)}\n  User ${user()}`,
    `rsync -e 'ssh -p 22' -av ./ ${user()}@${s(m.privateIp())}:backup/`,
    `${user()}@${s(m.ip())}: Permission denied (publickey).`,
    `ansible_host=${s(m.privateIp())} ansible_user=${user()}`,
    `git remote add nas ssh://${user()}@${s(`nas.${m.domain()}`)}:2222/volume1/git/app.git`,
    `debug1: Authenticating to ${s(`jump.${m.domain()}`)}:22 as '${user()}'`,
    `ssh-copy-id -i id.pub ${user()}@${s(m.privateIp())}`,
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${m.base64(43)} ${s(m.person().user)}@${host()}`,
  );
  const ip = (): string => s(m.ip());
  list.add(
    'ip-public',
    `curl -s ifconfig.me\n${ip()}`,
    `Failed password for invalid user admin from ${ip()} port 51022 ssh2`,
    `X-Forwarded-For: ${ip()}, ${ip()}`,
    `app.example.com.\t300\tIN\tA\t${ip()}`,
    `instance_public_ip = "${ip()}"`,
    `{"remoteAddress":"::ffff:${ip()}","status":200}`,
    `64 bytes from ${ip()}: icmp_seq=1 ttl=54 time=12.4 ms`,
    table([
      ['NAME', 'EXTERNAL-IP'],
      ['web', ip()],
    ]),
    `ufw allow from ${ip()} to any port 22`,
    composeLog(`${ip()} - - "POST /login HTTP/1.1" 401`, 'nginx'),
    `inet6 ${s(`2a02:8109:${m.hex(4)}:${m.hex(4)}:${m.hex(4)}:${m.hex(4)}:${m.hex(4)}:${m.hex(3)}a`)} prefixlen 64`,
  );
  const lan = (): string => s(m.privateIp());
  list.add(
    'ip-private',
    `  ➜  Network: http://${lan()}:5173/`,
    `default via ${lan()} dev wlp2s0 proto dhcp metric 600`,
    `nameserver ${lan()}`,
    `(ECONNREFUSED) connect ${lan()}:5432`,
    `server ${lan()}:8080 weight=3;`,
    `REDIS_HOST=${lan()}\nREDIS_PORT=6379`,
    arrowGutter(`hosts:\n  - ${lan()}\n  - ${lan()}`),
    `tcp   ESTAB 0 0 ${lan()}:22 ${lan()}:51544`,
  );
  list.add(
    'mac-address',
    `? (gateway) at ${s(m.mac())} [ether] on eth0`,
    `Physical Address. . . . . . . . . : ${s(m.mac('-').toUpperCase())}`,
    `wakeonlan ${s(m.mac())}`,
    `"hwaddr": "${s(m.mac())}",`,
    `HWaddr ${s(m.mac().toUpperCase())}  inet addr:127.0.0.1`,
  );
  list.add(
    'phone',
    `Tel.: ${s(`+49 30 ${m.number(8)}`)}`,
    `{"to":"${s(`+479${m.number(7)}`)}","body":"Hei"}`,
    `client.messages.create(to="${s(`+1415${m.of('2346789', 1)}${m.number(6)}`)}", from_=sender)`,
    `phone_number,name\n${s(`+33 6 ${m.number(2)} ${m.number(2)} ${m.number(2)} ${m.number(2)}`)},A`,
    `<a href="tel:${s(`+44207${m.number(7)}`)}">call</a>`,
    `Mobile: ${s(`(415) ${m.of('2346789', 1)}${m.number(2)}-${m.number(4)}`)}`,
  );
  list.add(
    'credit-card',
    `card_number: "${s(m.card().replace(/(.{4})(?=.)/g, '$1 '))}"`,
    `pan=${s(m.card('5425'))} cvv=`,
    `INSERT INTO payments (card) VALUES ('${s(m.card('5311').replace(/(.{4})(?=.)/g, '$1-'))}');`,
    `Visa ${s(m.card('4929'))} declined: insufficient funds`,
    `{"paymentMethod":{"number":"${s(m.card('4716'))}","expiry":"2028-01"}}`,
  );
  list.add(
    'iban',
    `IBAN: ${s(m.iban('DE', m.number(18)).replace(/(.{4})(?=.)/g, '$1 '))}`,
    `creditor_iban=${s(m.iban('NL', `INGB${m.number(10)}`))}`,
    `<IBAN>${s(m.iban('AT', m.number(16)))}</IBAN>`,
    `| Konto | ${s(m.iban('NO', m.number(11)))} |`,
    `"iban": "${s(m.iban('GB', `NWBK${m.number(14)}`))}",`,
  );
  list.add(
    'us-ssn',
    `SSN: ${s(m.ssn())}`,
    `ssn = "${s(m.ssn())}"`,
    `name|ssn|state\nA|${s(m.ssn())}|CO`,
    `<ssn>${s(m.ssn())}</ssn>`,
    `Social Security Number ${s(m.ssn())}`,
  );
  const sid = (): string => s(`S-1-5-21-${m.number(10)}-${m.number(9)}-${m.number(10)}-${1000 + m.random.below(900)}`);
  list.add(
    'windows-sid',
    `HKEY_USERS\\${sid()}\\Software\\Acme`,
    `CORP\\svc ${sid()}`,
    `<UserId>${sid()}</UserId>`,
    `Owner SID : ${sid()}`,
  );
  list.add(
    'machine-id',
    `$ cat /etc/machine-id\n${s(m.hex(32))}`,
    `      Machine ID: ${s(m.hex(32))}`,
    `Serial Number: ${s(`C02${m.of(UPPER, 3)}${m.number(2)}Q6LR`)}`,
    `"IOPlatformSerialNumber" = "${s(`FVF${m.of(UPPER, 4)}${m.number(2)}Q6L`)}"`,
  );

  // Learnt in one place, found in another of the same record, in another encoding.
  const someone = m.person();
  const box = m.host();
  list.add(
    'propagated',
    `HOME=${area('/home/', someone.user)}\nlocking ${s(someone.user)}.lock\nbackup-${s(someone.user)}.tgz`,
    `${s(someone.user)}@${s(box)}:~$ cat out.log\nsent by agent on ${s(box)} for ${s(someone.user)}`,
    `Author: ${s(someone.full)} <${s(someone.mail)}>\n\n    fix: as ${s(someone.full)} asked`,
    numbered(`USER=${s(someone.user)}\nGRAFANA_URL=https://grafana.example.com/d/a?var-user=${s(someone.user)}`),
  );
  return list.cases;
}
