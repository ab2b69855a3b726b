import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { ConfigError } from '../../../src/config/parsing/flags.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { forgedToken } from '../../support/forged-token.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';

const USERS = '/api/core/v2/users';
const PASSWORD = 'first-pass';
const FIVE_MINUTES_MS = 300_000;
const HALF_A_DAY_MS = 43_200_000;
const CURVES = [
  { algorithm: 'ES256', namedCurve: 'P-256', digest: 'sha256' },
  { algorithm: 'ES384', namedCurve: 'P-384', digest: 'sha384' },
  { algorithm: 'ES512', namedCurve: 'P-521', digest: 'sha512' },
] as const;

interface Tokens {
  access: string;
  refresh: string;
}

type Curve = (typeof CURVES)[number];

const keyPairOf = ({ namedCurve }: Pick<Curve, 'namedCurve'>) => generateKeyPairSync('ec', { namedCurve });
const pemOf = (key: KeyObject): string =>
  key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' }).toString();

describe('A9 tokens signed by a key of the operator', () => {
  let directory: TemporaryDirectory;
  let files: { privateKey: string; publicKey: string };
  let backend: InProcessBackend;
  let client: ApiClient;
  /** The configuration of the next start. */
  let tokens: BackendConfig['tokens'];

  beforeEach(async () => {
    directory = await temporaryDirectory();
    files = { privateKey: join(directory.path, 'jwt.key'), publicKey: join(directory.path, 'jwt.pem') };
    tokens = undefined;
  });

  afterEach(async () => {
    client?.close();
    await backend?.stop();
    await directory.remove();
  });

  async function write(privateKey: string, publicKey: string, mode = 0o600): Promise<void> {
    await writeFile(files.privateKey, privateKey);
    await chmod(files.privateKey, mode);
    await writeFile(files.publicKey, publicKey);
  }

  const withKeys = (lives = { accessMs: FIVE_MINUTES_MS, refreshMs: HALF_A_DAY_MS }): BackendConfig['tokens'] => ({
    ...lives,
    keys: {
      privateKey: { flag: 'jwt-private-key-file', path: files.privateKey },
      publicKey: { flag: 'jwt-public-key-file', path: files.publicKey },
    },
  });

  /** The backend applies `tokens` at each restart. */
  async function start(): Promise<void> {
    backend = await InProcessBackend.start({
      configure: (config) => Object.defineProperty({ ...config }, 'tokens', { get: () => tokens, enumerable: true }),
    });
    const admin = await backend.login();
    const password_hash = hashSync(PASSWORD, { cost: 4 });
    await admin.post(USERS, { username: 'ann', password_hash, groups: ['cluster-admins'] });
    client = new ApiClient(backend.apiPort);
  }

  async function restart(): Promise<void> {
    client.close();
    await backend.restart();
    client = new ApiClient(backend.apiPort);
  }

  const tokensOf = ({ status, json }: ApiAnswer): Tokens => {
    expect(status).to.equal(200);
    return { access: String(at(json, 'access_token')), refresh: String(at(json, 'refresh_token')) };
  };

  /** The issuer stays the same after a restart with another port. */
  const host = { host: 'mon.example' };
  const login = async (): Promise<Tokens> => {
    const authorization = basicHeader({ username: 'ann', password: PASSWORD });
    return tokensOf(await client.request({ method: 'GET', path: '/auth', headers: { authorization, ...host } }));
  };
  const seen = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, ...host };
    return (await client.request({ method: 'GET', path: USERS, headers })).status;
  };
  const refresh = ({ access, refresh: refresh_token }: Tokens): Promise<ApiAnswer> => {
    const headers = { authorization: `Bearer ${access}`, ...host };
    return client.request({ method: 'POST', path: '/auth/token', headers, body: { refresh_token } });
  };

  for (const curve of CURVES) {
    it(`A9 use ${curve.algorithm} with a ${curve.namedCurve} key, after a login and after a refresh`, async () => {
      const { privateKey, publicKey } = keyPairOf(curve);
      await write(pemOf(privateKey), pemOf(publicKey));
      tokens = withKeys();
      await start();
      const first = await login();
      const second = tokensOf(await refresh(first));
      for (const token of [first.access, first.refresh, second.access, second.refresh]) {
        expect(decodeProtectedHeader(token)).to.deep.equal({ alg: curve.algorithm, typ: 'JWT' });
      }
      expect([await seen(first.access), await seen(second.access)]).to.deep.equal([200, 200]);
      await restart();
      expect(await seen(second.access)).to.equal(200);
    });
  }

  it("A9 are accepted with a signature of the store's secret, before and after the key is configured", async () => {
    await start();
    const bySecret = await login();
    expect(decodeProtectedHeader(bySecret.access).alg).to.equal('HS256');
    const { privateKey, publicKey } = keyPairOf(CURVES[0]);
    await write(pemOf(privateKey), pemOf(publicKey));
    tokens = withKeys();
    await restart();
    expect(await seen(bySecret.access)).to.equal(200);
    const byKey = tokensOf(await refresh(bySecret));
    expect(decodeProtectedHeader(byKey.access).alg).to.equal('ES256');
    tokens = undefined;
    await restart();
    expect([await seen(bySecret.access), await seen(byKey.access)]).to.deep.equal([200, 401]);
  });

  /** The token with this header and its own claims, signed by another means. */
  const resigned = (token: string, header: object, signature: (signed: string) => Buffer): string => {
    const claims = token.split('.')[1] ?? '';
    const signed = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}`;
    return `${signed}.${signature(signed).toString('base64url')}`;
  };

  it('A9 are answered with 401 when they confuse algorithms', async () => {
    const { privateKey, publicKey } = keyPairOf(CURVES[0]);
    await write(pemOf(privateKey), pemOf(publicKey));
    tokens = withKeys();
    await start();
    const { access } = await login();
    const pem = pemOf(publicKey);
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const hmac = (key: string | Buffer, digest: string) => (signed: string) =>
      createHmac(digest, key).update(signed).digest();
    const by = (key: KeyObject, digest: string) => (signed: string) =>
      sign(digest, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    const other = keyPairOf(CURVES[0]).privateKey;
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
    const typ = 'JWT';
    const forgeries: [string, string][] = [
      ['HS256 by the text of the public key', resigned(access, { alg: 'HS256', typ }, hmac(pem, 'sha256'))],
      ['the same without its last line feed', resigned(access, { alg: 'HS256', typ }, hmac(pem.trim(), 'sha256'))],
      ['HS256 by the bytes of the public key', resigned(access, { alg: 'HS256', typ }, hmac(der, 'sha256'))],
      ['HS512 by the text of the public key', resigned(access, { alg: 'HS512', typ }, hmac(pem, 'sha512'))],
      ['ES384 by the true key', resigned(access, { alg: 'ES384', typ }, by(privateKey, 'sha384'))],
      ['ES256 by another key', resigned(access, { alg: 'ES256', typ }, by(other, 'sha256'))],
      ['RS256', resigned(access, { alg: 'RS256', typ }, (signed) => sign('sha256', Buffer.from(signed), rsa))],
      ['PS256', resigned(access, { alg: 'PS256', typ }, (signed) => sign('sha256', Buffer.from(signed), rsa))],
      ['none', forgedToken(access, { header: { alg: 'none' }, sign: 'none' })],
      ['es256', forgedToken(access, { header: { alg: 'es256' } })],
      [
        'a key of its own',
        resigned(
          access,
          { alg: 'ES256', typ, jwk: createPublicKey(other).export({ format: 'jwk' }) },
          by(other, 'sha256'),
        ),
      ],
      [
        'the address of a key',
        resigned(access, { alg: 'ES256', typ, jku: 'http://127.0.0.1:1/' }, by(other, 'sha256')),
      ],
      ['the id of a key', resigned(access, { alg: 'ES256', typ, kid: '../../dev/null' }, by(other, 'sha256'))],
      [
        'the true key with another header member',
        resigned(access, { alg: 'ES256', typ, kid: 'x' }, by(privateKey, 'sha256')),
      ],
      ['a signature of zeros (CVE-2022-21449)', resigned(access, { alg: 'ES256', typ }, () => Buffer.alloc(64))],
      [
        'a signature in DER',
        resigned(access, { alg: 'ES256', typ }, (signed) => sign('sha256', Buffer.from(signed), privateKey)),
      ],
      ['other claims', forgedToken(access, { claims: { sub: 'admin' } })],
      ['a later expiry', forgedToken(access, { claims: { exp: 4_102_444_800 } })],
    ];
    const statuses: [string, number][] = [];
    for (const [what, forged] of forgeries) statuses.push([what, await seen(forged)]);
    expect(statuses.filter(([, status]) => status !== 401)).to.deep.equal([]);
    expect(await seen(resigned(access, { alg: 'ES256', typ }, by(privateKey, 'sha256')))).to.equal(200);
  });

  const unusable: [string, () => [privateKey: string, publicKey: string, mode?: number], RegExp][] = [
    [
      'that do not belong together',
      () => [pemOf(keyPairOf(CURVES[0]).privateKey), pemOf(keyPairOf(CURVES[0]).publicKey)],
      /^--jwt-public-key-file .*: does not belong to the key /,
    ],
    [
      'of a curve that tokens do not know',
      () => {
        const { privateKey, publicKey } = keyPairOf({ namedCurve: 'secp256k1' as 'P-256' });
        return [pemOf(privateKey), pemOf(publicKey)];
      },
      /^--jwt-private-key-file .*: must be a key of curve P-256, P-384 or P-521/,
    ],
    [
      'of RSA',
      () => {
        const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
        return [pemOf(privateKey), pemOf(publicKey)];
      },
      /^--jwt-private-key-file .*: must be a key of curve P-256, P-384 or P-521/,
    ],
    [
      'of which others may read the private one',
      () => {
        const { privateKey, publicKey } = keyPairOf(CURVES[0]);
        return [pemOf(privateKey), pemOf(publicKey), 0o640];
      },
      /others than its owner may use the key, its mode is 0640: make it 0600/,
    ],
    [
      'of which the private one stands in both files',
      () => {
        const pem = pemOf(keyPairOf(CURVES[0]).privateKey);
        return [pem, pem];
      },
      /^--jwt-public-key-file .*: holds a private key/,
    ],
    ['that are not keys', () => ['x', 'y'], /^--jwt-private-key-file .*: holds no private key/],
  ];
  for (const [what, files_, rule] of unusable) {
    it(`A9 cannot be signed by keys ${what}: the backend does not start`, async () => {
      await write(...files_());
      tokens = withKeys();
      const error = await start().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as ConfigError).mistakes[0]?.rule).to.match(rule);
    });
  }

  it('A9 are valid for the configured time', async () => {
    tokens = { accessMs: 60_000, refreshMs: 600_000, keys: undefined };
    await start();
    const first = await login();
    const { exp, iat } = decodeJwt(first.refresh);
    expect([Number(exp) - Number(iat), at(decodeJwt(first.access), 'exp')]).to.deep.equal([600, backend.nowS + 60]);
    backend.clock.jump(61_000);
    expect(await seen(first.access)).to.equal(401);
    const second = tokensOf(await refresh(first));
    expect(await seen(second.access)).to.equal(200);
    backend.clock.jump(601_000);
    expect((await refresh(second)).status).to.equal(401);
    expect(await seen((await login()).access)).to.equal(200);
  });
});
