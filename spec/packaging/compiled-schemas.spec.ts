import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { compiledSchema } from '../../src/resources/compiled-schema.ts';
import { EventSchema } from '../../src/resources/event.ts';
import { checkEvent } from '../support/example-events.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const chunks = readdirSync(join(DIST, 'chunks')).filter((name) => name.endsWith('.cjs'));

interface Validate {
  (value: unknown): boolean;
  errors?: unknown;
}

interface Loader {
  load(chunk: string): Validate;
}

const { load } = createRequire(import.meta.url)(join(DIST, 'load.cjs')) as Loader;

describe('the compiled schemas of the programs', () => {
  it('are all that the programs have of the compiler of schemas', () => {
    const names = chunks.filter((name) => readFileSync(join(DIST, 'chunks', name), 'utf8').includes('Ajv2020'));
    expect(names).to.deep.equal([]);
    expect(chunks.filter((name) => name.startsWith('schema-'))).to.have.length.above(20);
  });

  it('accept and refuse the same values as the schemas, with the same errors', () => {
    const point = { name: 'cpu', value: 1, timestamp: 2n ** 63n - 1n, tags: null };
    const values = [
      checkEvent('web-01', 'disk', {}),
      { ...checkEvent('web-01', 'disk', {}), metrics: { handlers: null, points: [point] } },
      { metrics: { points: [{ ...point, timestamp: 2n ** 63n }] } },
      { metrics: { points: [{ ...point, timestamp: 1.5 }] } },
      checkEvent('web-01', 'disk', { status: -1 }),
      checkEvent('web-01', 'disk', { output: 5 }),
      { entity: { metadata: { name: 'a', labels: { team: 7 } } } },
      { check: { metadata: { name: 'x'.repeat(300) } } },
      { id: null, check: null, pipelines: [null] },
      [],
    ];
    const built = load(chunks.find((name) => /^schema-event-.{8}\.cjs$/.test(name)) ?? '');
    const fromSource: Validate = compiledSchema('event', EventSchema)();
    const results = (validate: Validate): unknown =>
      values.map((value) => ({ isValid: validate(value), errors: validate.errors }));
    expect(results(built)).to.deep.equal(results(fromSource));
    expect(values.map((value) => built(value))).to.include.members([true, false]);
  });
});
