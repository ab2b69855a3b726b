import { expect } from 'chai';
import { MalformedMetrics, MetricsText } from './metrics-text.ts';

const HEAD = '# HELP up Whether it is\n# TYPE up gauge\n';

describe('the metrics parser', () => {
  it('reads families, labels with escapes, numbers and suffixes', () => {
    const text = `${HEAD}up{a="x \\"\\\\\\n}",b=""} 1.5e-3\n\n# HELP took s\n# TYPE took summary\ntook{quantile="0.5"} NaN\ntook_sum 2\n`;
    const metrics = new MetricsText(text);
    expect([...metrics.families.keys()]).to.deep.equal(['up', 'took']);
    expect(metrics.families.get('up')).to.include({ type: 'gauge', help: 'Whether it is' });
    expect(metrics.value('up', { b: '', a: 'x "\\\n}' })).to.equal(0.0015);
    expect(metrics.value('took_sum')).to.equal(2);
    expect(metrics.series).to.equal(3);
  });

  const malformed: [string, string][] = [
    ['a last line without a line feed', `${HEAD}up 1`],
    ['a sample before its type', 'up 1\n'],
    ['a sample of another family', `${HEAD}down 1\n`],
    ['a type without help', '# TYPE up gauge\n'],
    ['an unknown type', '# HELP up x\n# TYPE up number\n'],
    ['a duplicate family', `${HEAD}up 1\n${HEAD}`],
    ['a duplicate series', `${HEAD}up{a="1",b="2"} 1\nup{b="2",a="1"} 1\n`],
    ['a duplicate label', `${HEAD}up{a="1",a="2"} 1\n`],
    ['an unescaped quote', `${HEAD}up{a="1"2"} 1\n`],
    ['an unknown escape', `${HEAD}up{a="\\t"} 1\n`],
    ['a label without quotes', `${HEAD}up{a=1} 1\n`],
    ['a value that is not a number', `${HEAD}up undefined\n`],
    ['a counter below zero', '# HELP n x\n# TYPE n counter\nn -1\n'],
    ['a comment of another kind', `${HEAD}# EOF\n`],
  ];
  for (const [what, text] of malformed) {
    it(`rejects ${what}`, () => {
      expect(() => new MetricsText(text)).to.throw(MalformedMetrics);
    });
  }
});
