import { expect } from 'chai';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';
import { perTest } from '../../support/fixture.ts';
import { difference } from '../../support/golden-match.ts';
import { readGolden } from '../../support/golden-file.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

interface Answer {
  status: number;
  body?: unknown;
}

interface Recorded {
  check: { metadata: { name: string } };
  execute: object;
  answer: Answer;
  /** The requests as the agent received them. */
  requests: unknown[];
  ours?: { requests?: unknown[] };
}

interface RecordedBody {
  case: string;
  check?: string;
  body: string;
  status: number;
  answer?: unknown;
  requests: number;
  ours?: Pick<RecordedBody, 'status' | 'answer'> & { requests?: number };
}

const recording = JSON.parse(readGolden('schedule/requests.json').replaceAll('{ns}', 'default')) as {
  resources: [kind: string, resource: { metadata: { name: string } }][];
  execute: Recorded[];
  bodies: RecordedBody[];
};

describe('a recorded run that a user requested', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());
  const gold = perTest(() => SubscribedAgent.register(backend, 'gold', 'g', 'g2'));

  async function write(kind: string, resource: { metadata: { name: string } }): Promise<void> {
    const { metadata } = resource;
    const body = { ...resource, metadata: { ...metadata, namespace: 'default' } };
    const { status } = await api.put(`/ns/default/${kind}/${metadata.name}`, body);
    expect(status, `${kind} ${metadata.name}`).to.equal(201);
  }

  for (const { check, execute, answer, requests, ours } of recording.execute) {
    it(`sends ${check.metadata.name} to its agent`, async () => {
      for (const [kind, resource] of recording.resources) await write(kind, resource);
      await write('checks', check);
      const { status, json } = await api.post(`/ns/default/checks/${check.metadata.name}/execute`, execute);
      expect(difference(answer, { status, body: json })).to.equal(undefined);
      const asked = await gold.requests();
      expect(
        difference(
          ours?.requests ?? requests,
          asked.map(({ request }) => request),
        ),
      ).to.equal(undefined);
    });
  }

  for (const recorded of recording.bodies) {
    it(`answers the body: ${recorded.case}`, async () => {
      const metadata = { name: 'c' };
      await write('checks', {
        metadata,
        command: 'true',
        interval: 3_600,
        publish: true,
        subscriptions: ['g'],
      } as never);
      const expected = { ...recorded, ...recorded.ours };
      const { status, json } = await api.post(`/ns/default/checks/${recorded.check ?? 'c'}/execute`, recorded.body);
      expect(status).to.equal(expected.status);
      if (recorded.ours === undefined || recorded.ours.answer !== undefined) {
        expect(difference(expected.answer, json)).to.equal(undefined);
      }
      expect(await gold.requestCount()).to.equal(expected.requests);
    });
  }
});
