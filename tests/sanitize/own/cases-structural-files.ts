/** Secrets in files of tools, on command lines and in prose. */
import type { Random } from '../../engine/tokenizer/fuzz-random.js';
import { added, arrowGutter, numbered, quoted, traced } from './decorate.js';
import { ALNUM, HEX, Make, UPPER } from './make.js';
import { CaseList, type OwnCase, s } from './mark.js';
import { put, TOKENS, type TokenFamily } from './tokens.js';

export function structuralFileCases(random: Random): OwnCase[] {
  const m = new Make(random);
  const list = new CaseList('structural');
  const token = (family: TokenFamily): string => put(TOKENS[family](m));
  const strong = (): string => s(m.strong());
  const human = (): string => s(m.human());
  const base64 = (text: string): string => s(Buffer.from(text).toString('base64'));
  const awsKey = (): string => s(m.base64(40));

  list.add(
    'aws-credentials-file',
    numbered(`[prod]\naws_access_key_id=${token('aws-access-key-id')}\naws_secret_access_key=${awsKey()}`),
    `User name,Access key ID,Secret access key\nci,${token('aws-access-key-id')},${awsKey()}`,
    `cat >> ~/.aws/credentials <<EOF\n[ci]\naws_access_key_id = ${token('aws-access-key-id')}\naws_secret_access_key = ${awsKey()}\naws_session_token = ${token('aws-session-token')}\nEOF`,
    `provider "aws" {\n  access_key = "${token('aws-access-key-id')}"\n  secret_key = "${awsKey()}"\n}`,
    `boto3.client("s3", aws_access_key_id="${token('aws-access-key-id')}", aws_secret_access_key="${awsKey()}")`,
    `[s3]\ntype = s3\naccess_key_id = ${token('aws-access-key-id')}\nsecret_access_key = ${awsKey()}`,
  );
  list.add(
    'cloud-metadata',
    `{"Credentials":{"AccessKeyId":"${token('aws-temp-access-key-id')}","SecretAccessKey":"${awsKey()}","SessionToken":"${token('aws-session-token')}"}}`,
    `curl -H "Metadata-Flavor: Google" http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token\n{"access_token":"${token('gcp-oauth-access-token')}","expires_in":3599}`,
    `{"access_token":"${s(m.jwt({ aud: 'https://management.azure.com' }, 'RS256'))}","resource":"https://management.azure.com/"}`,
    `ASSUMED=$(aws sts assume-role)\nexport AWS_ACCESS_KEY_ID=${token('aws-temp-access-key-id')} AWS_SECRET_ACCESS_KEY=${awsKey()}`,
  );
  const pem = (kind: string): string =>
    `-----BEGIN ${kind}-----\n${m.keyLines('MIIEow', 6).join('\n')}\n-----END ${kind}-----\n`;
  const rsaName = ['RSA PRIVATE', 'KEY'].join(' ');
  list.add(
    'kubeconfig',
    `- name: admin\n  user:\n    client-certificate-data: ${Buffer.from(pem('CERTIFICATE')).toString('base64')}\n    client-key-data: ${base64(pem(rsaName))}`,
    `kubectl config set-credentials ci --token=${s(m.opaque(48))}`,
    `{"users":[{"name":"ci","user":{"token":"${s(m.jwt({ iss: 'kubernetes/serviceaccount' }, 'RS256'))}"}}]}`,
    `    user:\n      username: admin\n      password: ${strong()}`,
    `kubectl --token ${s(m.opaque(40))} get pods -n web`,
  );
  list.add(
    'k8s-secret',
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  api-token: ${s(m.opaque(32))}\n  db-password: ${human()}`,
    `{"apiVersion":"v1","kind":"Secret","data":{"password":"${base64(m.strong())}"}}`,
    `kubectl create secret generic app --from-literal=api-key='${s(m.opaque(32))}' --from-literal=pass=${strong()}`,
    `kubectl create secret docker-registry regcred --docker-server=registry.example.com --docker-username=ci --docker-password=${strong()}`,
    `apiVersion: v1\ndata:\n  token: ${base64(m.opaque(30))}\nkind: Secret\nmetadata:\n  name: app`,
    `kubectl get secret app -o jsonpath='{.data.password}' | base64 -d\n${strong()}`,
    arrowGutter(`kind: Secret\ntype: Opaque\ndata:\n  SMTP_PASSWORD: ${base64(m.strong())}`),
  );
  list.add(
    'docker-login',
    `docker login registry.example.com --username ci --password=${strong()}`,
    `podman login -u ci -p ${strong()} quay.io`,
    `{"auths":{"ghcr.io":{"username":"ci","password":"${token('github-pat')}","auth":"${base64(`ci:${m.strong()}`)}"}}}`,
    `skopeo copy --dest-creds ci:${strong()} docker://a docker://b`,
    `.dockerconfigjson: ${base64(JSON.stringify({ auths: { 'ghcr.io': { auth: m.alnum(40) } } }))}`,
    `docker login -u ci -p${strong()}\nWARNING! Using --password via the CLI is insecure.`,
  );
  list.add(
    'npmrc',
    `//npm.pkg.github.com/:_authToken=${token('github-pat')}`,
    `_auth=${base64(`ci:${m.strong()}`)}\nemail=ci@example.com`,
    `//nexus.example.com/repository/npm/:_password=${base64(m.strong())}\n//nexus.example.com/repository/npm/:username=ci`,
    `echo "//registry.npmjs.org/:_authToken=${token('npm-token')}" > ~/.npmrc`,
    `npmRegistries:\n  "https://npm.example.com":\n    npmAuthToken: "${s(m.uuid())}"`,
    `npmAuthIdent: "ci:${strong()}"`,
  );
  list.add(
    'pypirc',
    `[distutils]\nindex-servers = internal\n\n[internal]\nusername: ci\npassword: ${strong()}`,
    `twine upload -u __token__ -p ${token('pypi-token')} dist/*`,
    `[global]\nextra-index-url = https://ci:${strong()}@pypi.example.com/simple`,
    `TWINE_USERNAME=ci TWINE_PASSWORD=${strong()} twine upload dist/*`,
    `POETRY_HTTP_BASIC_INTERNAL_PASSWORD=${strong()}`,
  );
  list.add(
    'netrc',
    `machine git.example.com login ci password ${strong()}`,
    `machine api.example.com\nlogin ci\npassword ${human()}\n\nmachine other.example.com login ci password ${strong()}`,
    `default login anonymous password ${strong()}`,
    traced(`echo 'machine git.example.com login ci password ${strong()}'`),
  );
  list.add(
    'pgpass-mycnf',
    `localhost:5432:*:app:${strong()}`,
    `echo "db:5432:shop:app:${strong()}" > ~/.pgpass && chmod 600 ~/.pgpass`,
    `[mysqldump]\nuser = backup\npassword = "${s(m.symbols())}"`,
    numbered(`[client]\nhost=localhost\nuser=app\npassword='${strong()}'`),
  );
  list.add(
    'git-credentials',
    `cat ~/.git-credentials\nhttps://ci:${strong()}@git.example.com\nhttps://x-access-token:${token('github-pat')}@github.com`,
    `printf "protocol=https\\nhost=git.example.com\\nusername=ci\\npassword=${strong()}\\n" | git credential approve`,
    `git -c credential.helper='!f() { echo username=ci; echo password=${strong()}; }; f' fetch`,
    `trace: run_command: git credential-store store\nusername=ci\npassword=${token('gitlab-pat')}`,
  );
  list.add(
    'gh-hosts',
    `github.com:\n    oauth_token: ${token('github-oauth')}\n    git_protocol: ssh`,
    `  ✓ Logged in to github.com account ${s(m.person().user)} (GH_TOKEN)\n  - Token: ${token('github-pat')}\n  - Token scopes: 'repo'`,
    `hosts:\n    gitlab.example.com:\n        token: ${token('gitlab-pat')}\n        api_protocol: https`,
    `gh auth token\n${token('github-oauth')}`,
  );
  const crypt = (length: number): string => m.of(`./${ALNUM}`, length);
  list.add(
    'htpasswd-shadow',
    `admin:${s(`$2y$05$${crypt(53)}`)}`,
    `deploy:${s(`$y$j9T$${crypt(22)}$${crypt(43)}`)}:20122:0:99999:7:::`,
    `svc:${s(`{SHA}${m.base64(27)}=`)}`,
    `"password_hash": "${s(`$argon2id$v=19$m=65536,t=3,p=4$${m.base64(22)}$${m.base64(43)}`)}"`,
    `traefik.http.middlewares.auth.basicauth.users=admin:${s(`$$apr1$$${crypt(8)}$$${crypt(22)}`)}`,
    `SELECT password FROM auth_user;\n ${s(`pbkdf2_sha256$870000$${m.alnum(22)}$${m.base64(43)}=`)}`,
  );
  const vault = (lines: number): string[] => Array.from({ length: lines }, () => s(m.of(HEX, 80)));
  list.add(
    'ansible-vault',
    ['$ANSIBLE_VAULT;1.1;AES256', ...vault(5)].join('\n'),
    `$ ansible-vault encrypt_string --name tok\ntok: !vault |\n          $ANSIBLE_VAULT;1.2;AES256;prod\n${vault(4)
      .map((line) => `          ${line}`)
      .join('\n')}\nEncryption successful`,
    numbered(['$ANSIBLE_VAULT;1.1;AES256', ...vault(3)].join('\n')),
    added(['$ANSIBLE_VAULT;1.1;AES256', ...vault(3)].join('\n'), 'group_vars/all/vault.yml'),
  );
  list.add(
    'cli-password-flag',
    `mysqldump -uroot --password=${strong()} shop > shop.sql`,
    `mysql -uroot -p'${s(m.symbols())}' -e 'show databases'`,
    `SSHPASS=${strong()} sshpass -e rsync -a dist/ staging.example.com:/srv`,
    `openssl pkcs12 -in c.p12 -nodes -passin pass:${human()}`,
    `keytool -list -keystore app.jks -storepass ${human()}`,
    `ldapsearch -x -D cn=admin,dc=example,dc=com -w ${strong()} -b dc=example,dc=com`,
    `sqlcmd -S localhost -U sa -P '${s(m.symbols())}' -Q "select 1"`,
    `mongodump --username root --password ${strong()} --db shop`,
    `net use \\\\files.example.com\\share /user:svc ${strong()}`,
    `ansible all -m ping -e ansible_become_pass=${strong()}`,
    `echo '${human()}' | sudo -S systemctl restart app`,
    `smbclient //files.example.com/in -U svc%${strong()}`,
    `zip -r -P ${strong()} out.zip dist/`,
    `useradd -m svc && echo "svc:${strong()}" | chpasswd`,
    `7z x backup.7z -p${strong()} -oout`,
    `rabbitmqctl add_user worker ${strong()}`,
    `vault login -method=userpass username=ci password=${strong()}`,
    `PASSWORD="${human()}" ./install.sh --silent`,
  );
  list.add(
    'prose-password',
    `log in as admin / password: ${human()} on the staging box`,
    `The root password for the VM is \`${strong()}\`.`,
    quoted(`Passwort ist ${strong()}, bitte nicht weitergeben`),
    `pw: ${strong()} (change it after the first login)`,
    `use these credentials:\n- username: tester\n- password: ${human()}`,
    `I set the passphrase to "${s(m.strong(22))}" and it still asks for it`,
    `**Password:** ${strong()}`,
    `Generated admin password: ${strong()}`,
  );
  const seed = (): string => s(m.base32(32));
  list.add(
    'otp-seed',
    `otpauth://totp/GitHub:acmebot?secret=${seed()}&issuer=GitHub&algorithm=SHA1`,
    `oathtool --totp -b ${seed()}`,
    `pyotp.TOTP("${seed()}").now()`,
    `MFA_SECRET=${seed()}`,
    `"totp_secret": "${seed()}",`,
    `Or enter this setup key: ${s(m.base32(16).replace(/(.{4})(?=.)/g, '$1 '))}`,
  );
  list.add(
    'seed-phrase',
    `"mnemonic": "${s(m.seedPhrase())}",`,
    `SEED_PHRASE='${s(m.seedPhrase(24))}'`,
    `Write down your recovery phrase:\n\n${s(m.seedPhrase())}\n\nNever share it.`,
    `ethers.Wallet.fromPhrase("${s(m.seedPhrase())}")`,
    `cast wallet import dev --mnemonic "${s(m.seedPhrase())}"`,
  );
  list.add(
    'wifi',
    `nmcli dev wifi connect office password ${strong()}`,
    `network={\n  ssid="office"\n  psk="${strong()}"\n}`,
    `wpa_passphrase office ${strong()}`,
  );
  list.add(
    'private-key-password',
    `ssh-keygen -t ed25519 -N "${strong()}" -f key`,
    `KEYSTORE_PASSWORD=${human()}`,
    `storePassword=${human()}\nkeyPassword=${human()}\nkeyAlias=upload`,
    `signing.password=${s(m.of(UPPER, 6) + m.strong(10))}`,
  );
  return list.cases;
}
