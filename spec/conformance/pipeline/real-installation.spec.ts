import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { AgentProcess } from '../../agent/agent-process.ts';
import { tarGzArchive } from '../../assets/archive-builder.ts';
import { AssetServer, sha512Of } from '../../assets/asset-server.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { FATIGUE_LIBRARY } from '../../support/fatigue-library.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { PipelineUser } from '../../support/pipeline-user.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Wrapped {
  type: string;
  api_version: string;
  metadata: { name: string };
  spec: Record<string, unknown>;
}

const COLLECTIONS: Readonly<Record<string, string>> = {
  Asset: 'assets',
  CheckConfig: 'checks',
  EventFilter: 'filters',
  Handler: 'handlers',
  HookConfig: 'hooks',
  Mutator: 'mutators',
  Pipeline: 'pipelines',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};

/** Appends its input to a file, after the other arguments. */
const NOTIFY = '#!/bin/sh\nfile="$1"\nshift\n{ echo "$*"; cat; echo; } >> "$file"\n';

const LIBRARY = tarGzArchive([{ path: 'lib/fatigue.js', content: FATIGUE_LIBRARY }]);
const TOOL = tarGzArchive([{ path: 'bin/notify', mode: 0o755, content: NOTIFY }]);

const NOT_AN_INCIDENT = 'denied: not an incident';

/** The handlers of the check `check-http` for which nothing changes. */
const ALWAYS = ['mail skipped: handler does not exist', 'metrics-store denied: no metrics'];
const STAGING = 'ticket skipped: filter "staging" does not exist';

/** Returns the items that are not among the others. Equal denials are one record, so that the new ones are not always the last. */
function without(items: readonly string[], others: readonly string[]): string[] {
  const left = [...items];
  for (const other of others) left.splice(left.indexOf(other), 1);
  return left;
}

describe('the configuration of a real installation, created through the API', function () {
  this.timeout(120_000);
  const server = perSuite(() => AssetServer.start());
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const user = perSuite(() => new PipelineUser(api, directory.path));
  let agent: AgentProcess | undefined;
  after(() => agent?.kill());

  before(async () => {
    server.serve('/acme-fatigue-check.tgz', LIBRARY);
    server.serve('/acme-notify.tgz', TOOL);
    for (const { type, metadata, spec } of installation()) {
      const collection = COLLECTIONS[type];
      if (collection === undefined) throw new Error(`no collection has the type ${type}`);
      await user.put(collection, metadata.name, { ...spec, metadata: { ...metadata, namespace: 'default' } });
    }
    set('http', 0, 'HTTP OK\n');
    set('disk', 0, 'DISK OK\n');
    const url = `ws://127.0.0.1:${backend.agentPort}`;
    agent = AgentProcess.start(url, '--subscriptions', 'web', '--labels', 'environment=production');
    const registered = { what: 'the entity of the agent', withinMs: 20_000 };
    await eventually(() => api.event('tester', 'keepalive'), Boolean, registered);
  });

  function installation(): Wrapped[] {
    const file = new URL('../../support/real-installation.yaml', import.meta.url);
    const text = readFileSync(file, 'utf8')
      .replaceAll('{assets}', `http://127.0.0.1:${server.port}`)
      .replaceAll('{sha512 of acme/fatigue-check}', sha512Of(LIBRARY))
      .replaceAll('{sha512 of acme/notify}', sha512Of(TOOL))
      .replaceAll('{dir}', directory.path);
    return parseAllDocuments(text).map((document) => document.toJS() as Wrapped);
  }

  /** Sets what a check finds from now on. */
  function set(check: string, status: number, output: string): void {
    writeFileSync(join(directory.path, check), output);
    writeFileSync(join(directory.path, `${check}-status`), String(status));
  }

  /** All outcomes of a check so far. */
  const seen = new Map<string, string[]>();

  /** Runs a check on the agent once, and returns what became of each handler that its result names. */
  async function outcomesOf(check: string, handlers: number): Promise<string[]> {
    const before = seen.get(check) ?? [];
    await api.post(`/ns/default/checks/${check}/execute`, {});
    const all = await user.outcomeLines(check, before.length + handlers, 'tester');
    seen.set(check, all);
    // An agent leaves out a second request of the same second.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return without(all, before).sort();
  }

  it('has more than fifteen resources', () => {
    const kinds = installation().map(({ type }) => type);
    expect(kinds).to.have.length.above(15);
    expect([...new Set(kinds)].sort()).to.deep.equal(Object.keys(COLLECTIONS));
  });

  it('notifies nobody while all is well, and records why', async () => {
    expect(await outcomesOf('check-http', 4)).to.deep.equal(
      [`slack ${NOT_AN_INCIDENT}`, `pager ${NOT_AN_INCIDENT}`, ...ALWAYS].sort(),
    );
    expect(await outcomesOf('check-disk', 3)).to.deep.equal(
      [`pager ${NOT_AN_INCIDENT}`, `ticket ${NOT_AN_INCIDENT}`, STAGING].sort(),
    );
  });

  it('pages for the first failure, and posts to the chat from the second one on', async () => {
    set('http', 2, 'HTTP CRITICAL\n');
    expect(await outcomesOf('check-http', 4)).to.deep.equal(
      ['pager handled', 'slack denied: fatigue: fatigue_check(event) was false', ...ALWAYS].sort(),
    );
    expect(await outcomesOf('check-http', 4)).to.deep.equal(['pager handled', 'slack handled', ...ALWAYS].sort());
    const [channel, event] = (user.input('slack') ?? '').split('\n');
    expect(channel).to.equal('#operations');
    expect(at(JSON.parse(event ?? ''), 'check', 'occurrences')).to.equal(2);
    expect(user.input('pager')).to.contain('"runbook":"https://runbooks.example/check-http"');
  });

  it('notifies both of the resolution', async () => {
    set('http', 0, 'HTTP OK\n');
    expect(await outcomesOf('check-http', 4)).to.deep.equal(['pager handled', 'slack handled', ...ALWAYS].sort());
  });

  it('does not post to the chat about a silenced check, and records the silence', async () => {
    set('http', 2, 'HTTP CRITICAL\n');
    await user.put('silenced', 'web:check-http', { subscription: 'web', check: 'check-http' });
    expect(await outcomesOf('check-http', 4)).to.deep.equal(
      ['pager handled', 'slack denied: silenced by web:check-http', ...ALWAYS].sort(),
    );
  });

  it('opens a ticket through the pipeline of a check', async () => {
    set('disk', 1, 'DISK WARNING\n/var is full\n');
    expect(await outcomesOf('check-disk', 3)).to.deep.equal(['pager handled', 'ticket handled', STAGING].sort());
    expect(user.input('ticket')).to.contain('DISK WARNING');
  });
});
