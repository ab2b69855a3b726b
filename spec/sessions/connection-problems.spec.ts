import { expect } from 'chai';
import { connectionProblems, type ConnectionContext } from '../../src/sessions/connection-problems.ts';

const NOW_MS = 1_700_000_000_000;
const QUIET: ConnectionContext = { sameName: new Set(), refused: undefined, nowMs: NOW_MS };

type Inputs = Partial<Parameters<typeof connectionProblems>[0]>;

const problemsOf = (inputs: Inputs, context: Partial<ConnectionContext> = {}): string[] =>
  connectionProblems(
    {
      address: '10.0.0.9:1',
      agentName: 'web',
      clockSkewS: undefined,
      state: 'registered',
      droppedRequests: 0,
      ...inputs,
    },
    { ...QUIET, ...context },
  );

describe('the problems of a connection', () => {
  const cases: [string, Inputs, string[]][] = [
    ['are none when nothing is wrong', { clockSkewS: 0 }, []],
    ['are none with a clock that is 30 s off', { clockSkewS: -30 }, []],
    ['are a clock that is 31 s ahead', { clockSkewS: 31 }, ["its clock is 31 seconds ahead of the backend's"]],
    ['are a clock that is 31 s behind', { clockSkewS: -31 }, ["its clock is 31 seconds behind the backend's"]],
    ['are its silence', { state: 'warning' }, ['the agent is silent']],
    ['are its end', { state: 'critical' }, ['the connection is being closed']],
    ['are dropped requests', { droppedRequests: 7 }, ['check requests dropped because the agent does not read: 7']],
  ];
  for (const [what, inputs, sentences] of cases) {
    it(what, () => {
      expect(problemsOf(inputs)).to.deep.equal(sentences);
    });
  }

  it('list five duplicates by address and the number of the others', () => {
    const duplicates = Array.from({ length: 8 }, (_, n) => ({ address: `10.0.0.${n}:1` }));
    const sentences = problemsOf({}, { sameName: new Set(duplicates) });
    expect(sentences).to.have.lengthOf(6);
    expect(sentences[4]).to.equal('another connection of web is open, from 10.0.0.4:1');
    expect(sentences[5]).to.equal('further open connections of web: 3');
  });

  it('include messages refused within a quarter of an hour', () => {
    const refusedAgo = (ms: number) =>
      problemsOf({}, { refused: { count: 2, lastAtMs: NOW_MS - ms, lastReason: 'x' } });
    expect(refusedAgo(899_999)).to.deep.equal(['refused messages: 2, the last because: x']);
    expect(refusedAgo(900_000)).to.deep.equal([]);
  });
});
