import { expect } from 'chai';
import type { AggregateAttributes } from '../../src/resources/aggregate-attributes.ts';
import { checkWithDefaults } from '../../src/resources/check.ts';
import { aggregatesOf, isHandled } from '../../src/rules/aggregate-names.ts';

interface Row {
  title: string;
  sent?: AggregateAttributes;
  stored?: AggregateAttributes;
  annotations?: Record<string, string>;
  joins: string[];
}

const definitionOf = ({ stored = {}, annotations = {} }: Pick<Row, 'stored' | 'annotations'>) =>
  checkWithDefaults({ ...stored, metadata: { name: 'disk', annotations } });

describe('the aggregates of a result', () => {
  const rows: Row[] = [
    { title: 'are none without attributes', joins: [] },
    { title: 'are the one that the check names', stored: { aggregate: 'web' }, joins: ['web'] },
    {
      title: 'are those of the list, which replaces the single one',
      stored: { aggregate: 'c', aggregates: ['a', 'b'] },
      joins: ['a', 'b'],
    },
    { title: 'are none with an empty list', stored: { aggregate: 'c', aggregates: [] }, joins: [] },
    { title: 'have the name of the check if the attribute is true', stored: { aggregate: true }, joins: ['disk'] },
    { title: 'are none if the attribute is false', stored: { aggregate: false }, joins: [] },
    {
      title: 'are those of the event, which replaces the check',
      sent: { aggregate: 'mine' },
      stored: { aggregate: 'web' },
      joins: ['mine'],
    },
    {
      title: 'are merged attribute by attribute',
      sent: { aggregate: 'mine' },
      stored: { aggregates: ['web'] },
      joins: ['web'],
    },
    {
      title: 'are left by an empty list in the event',
      sent: { aggregates: [] },
      stored: { aggregate: 'w' },
      joins: [],
    },
    { title: 'are each joined once', stored: { aggregates: ['a', 'b', 'a'] }, joins: ['a', 'b'] },
    {
      title: 'are read from the annotation of a check without the attributes',
      annotations: { 'mon.io/aggregates': 'a, b,a,,c d' },
      joins: ['a', 'b'],
    },
    {
      title: 'are not read from the annotation beside the attributes',
      stored: { aggregate: 'web' },
      annotations: { 'mon.io/aggregates': 'a' },
      joins: ['web'],
    },
  ];
  for (const { title, sent = {}, joins, ...definition } of rows) {
    it(title, () => {
      const found = aggregatesOf({ check: 'disk', sent, definition: definitionOf(definition) });
      expect([...found]).to.deep.equal(joins);
    });
  }

  it('are those of the event when no check is stored', () => {
    expect([...aggregatesOf({ check: 'disk', sent: { aggregate: 'web' }, definition: undefined })]).to.deep.equal([
      'web',
    ]);
  });
});

describe('the results of a check', () => {
  const rows: [
    title: string,
    sent: AggregateAttributes,
    row: Pick<Row, 'stored' | 'annotations'>,
    isHandled: boolean,
  ][] = [
    ['are handled by default', {}, {}, true],
    ['are not handled if the check says so', {}, { stored: { handle: false } }, false],
    ['are handled if the event says so', { handle: true }, { stored: { handle: false } }, true],
    ['are not handled if the event says so', { handle: false }, {}, false],
    [
      'are not handled if the annotation of the check says so',
      {},
      { annotations: { 'mon.io/handle': 'false' } },
      false,
    ],
    [
      'are handled if the check says so, whatever its annotation is',
      {},
      { stored: { handle: true }, annotations: { 'mon.io/handle': 'false' } },
      true,
    ],
  ];
  for (const [title, sent, row, expected] of rows) {
    it(title, () => expect(isHandled(sent, definitionOf(row))).to.equal(expected));
  }
});
