import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import type { MetricFamily, MetricsText } from '../../support/metrics-text.ts';
import { type Expression, parseExpression } from '../../support/promql.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { scrape } from '../../support/scrape.ts';

const PACKAGING = fileURLToPath(new URL('../../../packaging/grafana/', import.meta.url));

interface Target {
  expr: string;
  legendFormat: string;
  datasource: object;
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  targets?: Target[];
  gridPos: { x: number; y: number; w: number; h: number };
}

interface Board {
  title: string;
  uid: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: unknown; definition?: string }[] };
}

interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const board = JSON.parse(readFileSync(`${PACKAGING}mon-overview.json`, 'utf8')) as Board;
const { groups } = parse(readFileSync(`${PACKAGING}mon-alerts.yaml`, 'utf8')) as {
  groups: { name: string; rules: AlertRule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const targets = board.panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })));
/** The variables of the board that stand for any value of a label. */
const VARIABLE = /^\$\w+$/;

describe('the board and the alert rules in packaging/grafana', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const metrics = perSuite(() => scrapeAfterEvents(backend));

  const labelsOf = ({ samples }: MetricFamily): Set<string> =>
    new Set(samples.flatMap(({ labels }) => Object.keys(labels)));

  function unknownNames({ selectors, groupings }: Expression): string[] {
    const families = selectors.map(({ metric }) => metrics.families.get(metric));
    const grouped = groupings.filter((label) => !families.some((family) => family && labelsOf(family).has(label)));
    const wrong = selectors.flatMap(({ metric, matchers }) => {
      const family = metrics.families.get(metric);
      if (family === undefined) return [metric];
      return matchers
        .filter(({ label, operator, value }) => !isMatched(family, label, operator, value))
        .map(({ label, value }) => `${metric}{${label}="${value}"}`);
    });
    return [...wrong, ...grouped.map((label) => `by (${label})`)];
  }

  /** Whether the scrape has the label, and a sample with each value that the matcher names. */
  function isMatched(family: MetricFamily, label: string, operator: string, value: string): boolean {
    if (!labelsOf(family).has(label)) return false;
    if (VARIABLE.test(value)) return true;
    const wanted = operator.includes('~') ? value.split('|') : [value];
    return wanted.every((one) => family.samples.some(({ labels }) => labels[label] === one));
  }

  it('name only metrics, labels and values that a backend has', () => {
    expect(targets).to.have.length.above(30);
    expect(rules).to.have.length.above(12);
    const places = [
      ...targets.map(({ title, expr }) => ({ place: title, expr })),
      ...rules.map(({ alert, expr }) => ({ place: alert, expr })),
      ...board.templating.list.flatMap(({ name, definition: expr }) => (expr ? [{ place: name, expr }] : [])),
    ];
    const wrong = places.flatMap(({ place, expr }) =>
      unknownNames(parseExpression(expr)).map((name) => `${place}: ${name}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('name in their texts only labels that the result of the expression has', () => {
    const labelsIn = (text: string): string[] =>
      [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
    const texts = [
      ...targets.map(({ title, expr, legendFormat }) => ({ place: title, expr, text: legendFormat })),
      ...rules.map(({ alert, expr, annotations }) => ({
        place: alert,
        expr,
        text: Object.values(annotations).join(' ').replaceAll('{{ $value }}', ''),
      })),
    ];
    const wrong = texts.flatMap(({ place, expr, text }) => {
      const { groupings } = parseExpression(expr);
      return labelsIn(text)
        .filter((label) => !groupings.includes(label))
        .map((label) => `${place}: ${label}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it('are a board that can be imported, with a variable for the source of the data', () => {
    expect(board).to.include({ title: 'mon overview', uid: 'mon-overview' });
    expect(board.templating.list.map(({ name, type, query }) => [name, type, query]).at(0)).to.deep.equal([
      'datasource',
      'datasource',
      'prometheus',
    ]);
    const sources = new Set(targets.map(({ datasource }) => JSON.stringify(datasource)));
    expect([...sources]).to.deep.equal([JSON.stringify({ type: 'prometheus', uid: '${datasource}' })]);
    const ids = board.panels.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { type, title, description = '', gridPos } of board.panels) {
      expect(gridPos.x + gridPos.w, title).to.be.at.most(24);
      if (type !== 'row') expect(description, title).to.not.equal('');
    }
  });

  it('are rules with a name of their own, a severity and a summary', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    for (const { alert, labels, annotations, for: duration } of rules) {
      expect(alert).to.match(/^Mon[A-Z]\w+$/);
      expect(labels.severity, alert).to.be.oneOf(['warning', 'critical']);
      expect(annotations['summary'], alert).to.be.a('string');
      if (duration !== undefined) expect(duration, alert).to.match(/^\d+[smh]$/);
    }
  });
});

/** Lets a backend handle events of every status, silences, agents and handlers with every outcome, and scrapes it. */
async function scrapeAfterEvents(backend: RestartableBackend): Promise<MetricsText> {
  const api = await backend.login();
  const put = async (path: string, body: object): Promise<void> => {
    const { status, text } = await api.put(path, body);
    expect(status, text).to.be.oneOf([200, 201]);
  };
  const named = (name: string) => ({ metadata: { name, namespace: 'default' } });
  const pipe = (name: string, command: string, more: object = {}) =>
    put(`/ns/default/handlers/${name}`, { ...named(name), type: 'pipe', command, ...more });
  await pipe('good', 'cat > /dev/null');
  await pipe('bad', 'exit 1');
  await pipe('slow', 'sleep 20', { timeout: 1 });
  await put('/ns/default/silenced/*:quiet', { ...named('*:quiet'), check: 'quiet' });
  const handlers = ['good', 'bad', 'slow', 'absent'];
  await put('/ns/default/events/sw-1/crit', proxyEvent('sw-1', 'crit', { status: 2, handlers }));
  await put('/ns/default/events/sw-1/ok', proxyEvent('sw-1', 'ok', { status: 0 }));
  await put('/ns/default/events/sw-1/quiet', proxyEvent('sw-1', 'quiet', { status: 2 }));
  await put('/ns/default/checks/c', { ...named('c'), command: 'x', interval: 60, subscriptions: ['none'] });
  const agent = await ReportingAgent.connect(backend, 'web-1');
  await agent.keepalive();
  await backend
    .connect({ name: 'web-2', credentials: { username: 'agent', password: 'a guess' } })
    .catch((error: unknown) => {
      if (!(error instanceof HandshakeRefused)) throw error;
    });
  return eventually(
    async () => {
      await backend.clock.advance(1_000);
      return scrape(backend);
    },
    (metrics) => {
      const samples = metrics.families.get('mon_notifications_total')?.samples ?? [];
      return handlers.every((handler) => samples.some(({ labels }) => labels['handler'] === handler));
    },
    { what: 'the outcomes of all handlers', withinMs: 20_000 },
  );
}
