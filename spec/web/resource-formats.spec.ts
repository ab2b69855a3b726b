import { expect } from 'chai';
import fc from 'fast-check';
import { textOf, valueOf } from '../../web/src/pages/resources/formats.ts';

/** The message with which a text is refused. */
const refusal = async (text: string, format: 'json' | 'yaml'): Promise<string> => {
  try {
    return `accepted as ${JSON.stringify(await valueOf(text, format))}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a resource that is edited', () => {
  for (const format of ['json', 'yaml'] as const) {
    it(`is the same after it was written as ${format} and read again`, async () => {
      const names = fc.oneof(fc.string(), fc.constantFrom('y', 'no', '~', '1', '1:30', '<<', '- a', 'a: b', '#'));
      const objects = fc.dictionary(names, fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true });
      await fc.assert(
        fc.asyncProperty(objects, async (value) => {
          const written = JSON.parse(JSON.stringify(value)) as object;
          expect(await valueOf(textOf(written, format), format)).to.deep.equal(written);
        }),
      );
    });
  }

  it('can be written in YAML by hand', async () => {
    const text = 'metadata: {name: disk}\nenabled: yes\nhandlers:\n  - page # who\ncommand: |\n  a\n  b\n';
    expect(await valueOf(text, 'yaml')).to.deep.equal({
      metadata: { name: 'disk' },
      enabled: true,
      handlers: ['page'],
      command: 'a\nb\n',
    });
  });

  it('is refused with what is wrong', async () => {
    expect(await refusal('{"a":', 'json')).to.match(/^This is not JSON: /);
    expect(await refusal('a: [1', 'yaml')).to.match(/^This is not YAML: .* at line 1/s);
    expect(await refusal('a: 1\na: 2', 'yaml')).to.match(/^This is not YAML: Map keys must be unique/);
    expect(await refusal('a: &x [1]\nb: *x', 'yaml')).to.match(/^This YAML cannot be used: /);
    for (const [text, format] of [
      ['[1]', 'json'],
      ['- 1', 'yaml'],
      ['', 'yaml'],
    ] as const) {
      expect(await refusal(text, format)).to.equal('The text must be one object, with names and values.');
    }
  });
});
