import { expect } from 'chai';
import { type CheckEvent, hasCheck, parseEvent } from '../../src/resources/event.ts';
import { outputExcerpt } from '../../src/resources/redacted-excerpt.ts';
import { checkEvent } from '../support/example-events.ts';

function eventWith(output: string, check: object = {}, entity: object = {}): CheckEvent {
  const example = checkEvent('web', 'disk', { output, ...check }) as { entity: object };
  const event = parseEvent({ ...example, entity: { ...example.entity, ...entity } });
  if (!hasCheck(event)) throw new Error('the example has a check');
  return event;
}

const named = (annotations: Record<string, string>) => ({
  metadata: { name: 'disk', namespace: 'default', annotations },
});

describe('the excerpt of an output', () => {
  it('is the output when that has at most 200 characters', () => {
    expect(outputExcerpt(eventWith('DISK OK - free: 20 GB\n'))).to.equal('DISK OK - free: 20 GB\n');
    expect(outputExcerpt(eventWith('x'.repeat(1_000)))).to.equal('x'.repeat(200));
  });

  it('does not end within a character', () => {
    expect(outputExcerpt(eventWith(`${'x'.repeat(199)}😀`))).to.equal('x'.repeat(199));
  });

  it('has no value of an annotation, a label or a variable with a secret name', () => {
    const check = { ...named({ password: 'hunter2' }), env_vars: ['API_TOKEN=abc', 'HOME=/root'] };
    const entity = { metadata: { name: 'web', namespace: 'default', labels: { pin: '4711' } }, redact: ['pin'] };
    expect(outputExcerpt(eventWith('hunter2 abc 4711 /root', check, entity))).to.equal(
      'REDACTED REDACTED REDACTED /root',
    );
  });

  it('has no part of a secret that continues beyond its end', () => {
    const secret = 's'.repeat(300);
    const shown = outputExcerpt(eventWith(`${'x'.repeat(150)}${secret}`, named({ password: secret })));
    expect(shown).to.equal(`${'x'.repeat(150)}REDACTED`);
  });

  it('has no part of secrets that overlap', () => {
    const check = named({ password: 'abcd', secret: 'cdef' });
    expect(outputExcerpt(eventWith('-abcdef-', check))).to.equal('-REDACTED-');
  });

  for (const text of [
    'password=hunter2',
    '"password": "hunter2"',
    '--password=hunter2',
    'secret: hunter2',
    'PASS=hunter2',
  ]) {
    it(`has no value that follows a secret name in the text: ${text}`, () => {
      expect(outputExcerpt(eventWith(`login ${text}`))).to.equal(`login ${text.replace('hunter2', 'REDACTED')}`);
    });
  }

  it('takes no longer for many long secrets', () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`${'-'.repeat(n)}password`, 'ab'.repeat(10_000)]),
    );
    expect(outputExcerpt(eventWith('ab'.repeat(100_000), named(annotations)))).to.equal('REDACTED');
  });

  it('takes no longer when many secrets are equal', function () {
    this.timeout(5_000);
    const event = eventWith('a'.repeat(500));
    const env_vars = Array.from({ length: 50_000 }, () => 'PASS=a');
    expect(outputExcerpt({ ...event, check: { ...event.check, env_vars } })).to.match(/^(REDACTED){25}$/);
  });
});
