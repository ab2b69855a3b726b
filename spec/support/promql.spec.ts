import { expect } from 'chai';
import { MalformedExpression, parseExpression } from './promql.ts';

describe('an expression of Prometheus', () => {
  it('is read with its metrics, matchers and groupings', () => {
    const text = 'topk(3, sum by (a, b) (rate(m_total{x="1",y=~"p|q"}[5m])) / n{}) or vector(0)';
    expect(parseExpression(text)).to.deep.equal({
      selectors: [
        {
          metric: 'm_total',
          matchers: [
            { label: 'x', operator: '=', value: '1' },
            { label: 'y', operator: '=~', value: 'p|q' },
          ],
        },
        { metric: 'n', matchers: [] },
      ],
      groupings: ['a', 'b'],
    });
  });

  it('is read as the definition of a variable', () => {
    expect(parseExpression('label_values(m, namespace)').selectors).to.deep.equal([{ metric: 'm', matchers: [] }]);
  });

  const wrong = [
    'sum(m',
    'sum(m))',
    'rate(m[5m)',
    'rate(m[five])',
    'm{a=1}',
    'm{a}',
    'm{a="1" b="2"}',
    'sume(m)',
    'm > ?',
    'vector(0)',
  ];
  for (const text of wrong) {
    it(`is rejected: ${text}`, () => {
      expect(() => parseExpression(text)).to.throw(MalformedExpression);
    });
  }
});
