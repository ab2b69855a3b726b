import { expect } from 'chai';
import { denialBy, type FilterInput } from '../../src/rules/built-in-filters.ts';

describe('the built-in filters', () => {
  const input = (changes: Partial<FilterInput>): FilterInput => ({
    status: 0,
    previousStatus: undefined,
    silenced: [],
    hasMetrics: false,
    ...changes,
  });
  const cases: [string, string, Partial<FilterInput>, string | undefined][] = [
    ['include is_incident, which passes a problem', 'is_incident', { status: 1 }, undefined],
    ['include is_incident, which passes the end of a problem', 'is_incident', { previousStatus: 2 }, undefined],
    [
      'include is_incident, which denies a success after a success',
      'is_incident',
      { previousStatus: 0 },
      'not an incident',
    ],
    ['include is_incident, which denies a first success', 'is_incident', {}, 'not an incident'],
    [
      'include is_incident, which denies metrics without a check',
      'is_incident',
      { status: undefined },
      'not an incident',
    ],
    ['include not_silenced, which passes an event without a silence', 'not_silenced', {}, undefined],
    [
      'include not_silenced, which names the silences',
      'not_silenced',
      { silenced: ['a:*', 'b:c'] },
      'silenced by a:*, b:c',
    ],
    ['include has_metrics, which passes an event with metrics', 'has_metrics', { hasMetrics: true }, undefined],
    ['include has_metrics, which denies an event without metrics', 'has_metrics', {}, 'no metrics'],
    ['do not include other names', 'constructor', {}, undefined],
  ];
  for (const [what, filter, changes, denial] of cases) {
    it(what, () => {
      expect(denialBy(filter, input(changes))).to.equal(denial);
    });
  }

  it('name at most five silences, and count the others', () => {
    const silenced = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(denialBy('not_silenced', input({ silenced }))).to.equal('silenced by a, b, c, d, e and 2 more');
  });
});
