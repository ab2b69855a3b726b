import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import { allCharts } from '../../scripts/charts/all-charts.ts';
import { readMachine } from '../../scripts/charts/read-machine.ts';
import { MACHINES } from '../../src/actors/core/machines.ts';
import { PUBLISHED_MACHINES } from '../../src/actors/inspection/published-machines.ts';
import { agentLinkMachine } from '../../src/machines/agent-link.ts';
import type { Box, ChartTransition, Layout } from '../../web/src/machines/chart.ts';
import { COMMITTED_CHARTS, committedChart } from './committed-charts.ts';

const REAL: readonly AnyStateMachine[] = [...Object.values(MACHINES), agentLinkMachine];
/** All layouts take three seconds on an idle machine. */
const LAYOUT_MS = 60_000;
const KINDS = ['wide', 'tall', 'small'] as const;

interface Definition {
  on?: Record<string, unknown>;
  always?: unknown;
  after?: Record<string, unknown>;
  states?: Record<string, Definition>;
}

const countOf = (candidates: unknown): number => (Array.isArray(candidates) ? candidates.length : 1);

/** The number of states and transitions in a definition, counted without XState. */
function sizeOf({ on = {}, always, after = {}, states = {} }: Definition): { states: number; transitions: number } {
  const own = [...Object.values(on), ...Object.values(after), ...(always === undefined ? [] : [always])];
  const inner = Object.values(states).map(sizeOf);
  return {
    states: 1 + inner.reduce((sum, size) => sum + size.states, 0),
    transitions:
      own.reduce<number>((sum, one) => sum + countOf(one), 0) + inner.reduce((sum, size) => sum + size.transitions, 0),
  };
}

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

const within = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

const labelsOf = ({ edges }: Layout) =>
  edges.flatMap(({ id, label }) => (label === undefined ? [] : [{ id, box: label }]));

describe('the charts of the dashboard', () => {
  it('are those of the state machines of today; run "npm run charts" after a change', async () => {
    expect(JSON.parse(JSON.stringify(await allCharts()))).to.deep.equal(COMMITTED_CHARTS);
  }).timeout(LAYOUT_MS);

  it('are one for each machine that the API publishes', () => {
    const drawn = COMMITTED_CHARTS.map(({ machine, id, version }) => ({ machine, id, version }));
    const published = PUBLISHED_MACHINES.map(({ machine, definition: { id, version } }) => ({ machine, id, version }));
    expect(drawn).to.deep.equal(published);
  });

  for (const machine of REAL) {
    it(`have the states and transitions of the machine ${machine.id} that runs`, () => {
      const { states, transitions } = committedChart(machine.id);
      expect({ states, transitions }).to.deep.equal(readMachine(machine));
    });
  }

  for (const { definition } of PUBLISHED_MACHINES) {
    it(`have as many states and transitions as the definition of ${definition.id}`, () => {
      const { states, transitions } = committedChart(definition.id);
      expect({ states: states.length, transitions: transitions.length }).to.deep.equal(
        sizeOf(definition as Definition),
      );
    });
  }
});

for (const { id, states, transitions, layouts } of COMMITTED_CHARTS) {
  for (const kind of KINDS) {
    const layout = layouts[kind];
    const placeOf = (state: string): Box => {
      const place = layout.states[state];
      if (place === undefined) throw new Error(`${state} has no place`);
      return place;
    };
    const isAround = (outer: string, inner: string): boolean => inner.startsWith(`${outer}.`) || inner === outer;

    describe(`the ${kind} chart of ${id}`, () => {
      it('has a place for each state, inside of the state around it', () => {
        expect(Object.keys(layout.states)).to.deep.equal(states.map((state) => state.id));
        const whole = { x: 0, y: 0, width: layout.width, height: layout.height };
        for (const { id: state, parent } of states) {
          expect(within(placeOf(state), parent === undefined ? whole : placeOf(parent)), state).to.equal(true);
        }
      });

      it('shows each transition once, on an arrow or in the box of its state', () => {
        const onArrows = layout.edges.flatMap(({ of }) => of);
        const inBoxes = transitions.filter(({ target }) => target === undefined).map((inner) => inner.id);
        expect([...onArrows, ...inBoxes].toSorted()).to.deep.equal(transitions.map((one) => one.id).toSorted());
        if (kind === 'small') return;
        for (const [source, { lines }] of Object.entries(layout.states)) {
          const shown = new Set(lines.flatMap(({ of }) => of));
          const own = transitions.filter((one) => one.source === source && one.target === undefined);
          expect([...shown].toSorted(), source).to.deep.equal(own.map((one) => one.id).toSorted());
        }
        for (const { lines, of } of layout.edges) {
          expect([...new Set(lines.flatMap((line) => line.of))].toSorted()).to.deep.equal(of.toSorted());
        }
      });

      it('has an arrow from its source to its target for each transition', () => {
        const byId = new Map<string, ChartTransition>(transitions.map((one) => [one.id, one]));
        for (const { source, target, of, points, id: edge } of layout.edges) {
          for (const one of of) expect(byId.get(one), one).to.include({ source, target });
          const [end] = points.slice(-1);
          const { x, y, width, height } = placeOf(target);
          const reach = { x: x - 1, y: y - 1, width: width + 2, height: height + 2 };
          expect(within({ x: end?.[0] ?? -1, y: end?.[1] ?? -1, width: 0, height: 0 }, reach), edge).to.equal(true);
        }
      });

      it('has labels that overlap no other label and no state beside them', () => {
        const labels = labelsOf(layout);
        for (const [index, { id: edge, box }] of labels.entries()) {
          for (const other of labels.slice(index + 1))
            expect(overlap(box, other.box), `${edge} ${other.id}`).to.equal(false);
          const holders = states.filter(({ id: state }) => within(box, placeOf(state))).map((state) => state.id);
          for (const { id: state } of states.filter((one) => !holders.includes(one.id))) {
            expect(overlap(box, placeOf(state)), `${edge} ${state}`).to.equal(false);
          }
        }
      });

      it('has states that do not overlap unless one is in the other', () => {
        for (const [index, { id: one }] of states.entries()) {
          for (const { id: other } of states.slice(index + 1)) {
            if (isAround(one, other)) continue;
            expect(overlap(placeOf(one), placeOf(other)), `${one} ${other}`).to.equal(false);
          }
        }
      });

      it('has texts that fit in their boxes', () => {
        const boxes = [
          ...Object.values(layout.states),
          ...layout.edges.flatMap(({ label, lines }) => (label ? [{ ...label, lines }] : [])),
        ];
        for (const { x, y, width, height, lines } of boxes) {
          for (const { text, x: left, y: base, kind: size } of lines) {
            const textWidth = text.length * (size === 'event' ? 7 : 6.4);
            expect(
              within({ x: left, y: base - 8, width: textWidth, height: 10 }, { x, y, width, height }),
              text,
            ).to.equal(true);
          }
        }
      });
    });
  }
}
