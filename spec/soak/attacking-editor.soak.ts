import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { exampleResources } from '../support/example-resources.ts';
import { at } from '../support/json-path.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ATTACKS, FOREIGN, OWN, type Target } from './editor-attacks.ts';
import { soakMinutes } from './soak-minutes.ts';

const MINUTES = soakMinutes(60);
const MINUTE_MS = 60_000;
const MALLORY = { username: 'mallory', password: 'M4llory-P@ss' };
/** Texts that no answer to the attacker may contain. */
const SECRETS = { MON_SPEC_CANARY: 'canary-of-the-environment', FOREIGN_TOKEN: 'canary-of-the-other-tenant' };
const PROBE_MS = 200;
const MAX_SLOWED_MS = 1_000;
const CORE = 'assets checks entities events filters handlers hooks mutators pipelines silenced'.split(' ');
/** Only root can give commands an account of their own. Elsewhere the attacker may not configure what runs commands. */
const IS_ROOT = process.getuid?.() === 0;

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** What the attacker must not change, without the backend's own entity, which changes by itself. */
async function foreignState(admin: ApiClient): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  for (const { home } of exampleResources(FOREIGN)) state[home] = (await admin.get(home)).json;
  for (const kind of ['users', 'namespaces', 'apikeys']) state[kind] = (await admin.get(`/api/core/v2/${kind}`)).json;
  state['events'] = (await admin.get(`/ns/${FOREIGN}/events`)).json;
  return state;
}

/** The longest time that another user waited for an answer, without the time that this process was late itself. */
async function probe(admin: ApiClient, isOver: () => boolean): Promise<number> {
  let longestMs = 0;
  for (let n = 0; !isOver(); n += 1) {
    const dueMs = performance.now() + PROBE_MS;
    await pause(PROBE_MS);
    const startMs = performance.now();
    const event = { entity: { entity_class: 'proxy', metadata: { name: 'bystander', namespace: FOREIGN } } };
    const check = { metadata: { name: 'probe', namespace: FOREIGN }, interval: 60, status: 0, output: String(n) };
    const put = await admin.put(`/ns/${FOREIGN}/events/bystander/probe`, { ...event, check });
    expect(put.status).to.equal(200);
    longestMs = Math.max(longestMs, performance.now() - startMs - (startMs - dueMs));
  }
  return longestMs;
}

describe('a user with the role edit in one namespace who attacks the backend', () => {
  it('gets no secret, changes nothing elsewhere, ends no process and slows nobody by more than a second', async function () {
    this.timeout((MINUTES + 2) * MINUTE_MS);
    const random = SeededRandom.fresh();
    const args = IS_ROOT ? ['--command-user', 'nobody'] : [];
    const backend = await BackendProcess.start({ args, environment: SECRETS });
    const counts = { attacks: 0, requests: 0 };
    try {
      const admin = await backend.login();
      await prepare(admin);
      const before = await foreignState(admin);
      const api = await ApiClient.login(backend.apiPort, MALLORY);
      const { pid, stateDir, apiPort } = backend;
      const target: Target = { api, pid, stateDir, apiPort, random, runsCommands: IS_ROOT };
      const endMs = performance.now() + MINUTES * MINUTE_MS;
      const isOver = (): boolean => performance.now() >= endMs;
      const probing = probe(await backend.login(), isOver);
      const kinds = Object.entries(ATTACKS);
      while (!isOver()) {
        // Each kind comes first once, so that a short run has all of them.
        const index = counts.attacks < kinds.length ? counts.attacks : random.below(kinds.length);
        const [name, attack] = kinds[index] ?? [];
        counts.attacks += 1;
        for (const { answer, isForbidden } of (await attack?.(target, counts.attacks)) ?? []) {
          const { status, text } = answer;
          counts.requests += 1;
          const said = `${name} (seed ${random.seed}, attack ${counts.attacks}) got ${status} ${text.slice(0, 300)}`;
          expect(isForbidden === true && status < 400, said).to.equal(false);
          expect(status, said).to.not.equal(500);
          for (const secret of Object.values(SECRETS)) expect(text.includes(secret), said).to.equal(false);
        }
      }
      const slowedMs = await probing;
      api.close();
      const after = await foreignState(admin);
      expect(withoutProbe(after)).to.deep.equal(withoutProbe(before));
      expect(
        await ApiClient.login(backend.apiPort, { username: 'admin', password: 'x' }).catch(() => 'refused'),
      ).to.equal('refused');
      process.stdout.write(
        `${counts.attacks} attacks, ${counts.requests} requests, others waited ${slowedMs.toFixed(0)} ms at most, seed ${random.seed}\n`,
      );
      expect(slowedMs).to.be.below(MAX_SLOWED_MS);
      expect(await backend.stop()).to.equal(0);
    } finally {
      await backend.kill();
      await backend.remove();
    }
  });
});

/** The state without the event and the entity of the probe. */
function withoutProbe(state: Record<string, unknown>): Record<string, unknown> {
  const home = `/api/core/v2/namespaces/${FOREIGN}/entities`;
  const others = (list: unknown, ...path: string[]): unknown[] =>
    (list as unknown[]).filter((one) => at(one, ...path, 'metadata', 'name') !== 'bystander');
  return { ...state, [home]: others(state[home]), events: others(state['events'], 'entity') };
}

/** Creates the tenants, a resource of each kind in the foreign one, and the attacker. */
async function prepare(admin: ApiClient): Promise<void> {
  for (const name of [OWN, FOREIGN]) await admin.post('/api/core/v2/namespaces', { name });
  for (const { home, body } of exampleResources(FOREIGN)) {
    if (home.includes(`/${FOREIGN}/`)) expect((await admin.post(home, body('kept'))).status, home).to.be.below(300);
  }
  const env_vars = [`TOKEN=${SECRETS.FOREIGN_TOKEN}`];
  const metadata = { name: 'secretive', namespace: FOREIGN };
  await admin.put(`/ns/${FOREIGN}/handlers/secretive`, { metadata, type: 'pipe', command: 'true', env_vars });
  const runs = ['handlers', 'mutators'];
  const rules = [
    { verbs: ['*'], resources: CORE.filter((kind) => IS_ROOT || !runs.includes(kind)) },
    { verbs: ['get', 'list'], resources: ['namespaces', ...runs] },
  ];
  const role = { metadata: { name: 'edit', namespace: OWN }, rules };
  const binding = {
    metadata: { name: 'mallory', namespace: OWN },
    subjects: [{ type: 'User', name: MALLORY.username }],
    role_ref: { type: 'Role', name: 'edit' },
  };
  for (const [path, body] of [
    ['/api/core/v2/users', MALLORY],
    [`/ns/${OWN}/roles`, role],
    [`/ns/${OWN}/rolebindings`, binding],
  ] as const) {
    expect((await admin.post(path, body)).status, path).to.be.below(300);
  }
}
