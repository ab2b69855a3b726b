import { expect } from 'chai';
import { EventLookups } from '../../src/pipeline/event-lookups.ts';
import { type CheckEvent, parseEvent } from '../../src/resources/event.ts';
import { proxyEvent } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';

const event = (entity: string, output = 'out'): CheckEvent => {
  const made = parseEvent(proxyEvent(entity, 'disk', { status: 2, output }));
  const labels = { password: 'secret', team: 'ops' };
  return { ...made, entity: { ...made.entity, metadata: { ...made.entity?.metadata, labels } } } as CheckEvent;
};

/** Events of one namespace, which counts how often a list is begun. */
class Events {
  lists = 0;
  readonly #events: readonly CheckEvent[];

  constructor(events: readonly CheckEvent[]) {
    this.#events = events;
  }

  get(namespace: string, entity: string): CheckEvent | undefined {
    return namespace === 'default' ? this.#events.find((one) => one.entity.metadata.name === entity) : undefined;
  }

  list() {
    this.lists += 1;
    return { items: this.#events, lastKey: undefined };
  }
}

const jsonOf = (text: string | undefined): unknown => JSON.parse(text ?? 'null');

describe('the lookups of events by filters and mutators', () => {
  const stored = new Events([event('web'), event('db')]);
  const reader = new EventLookups(stored).of('default');

  it('give events as filters see them, with their secrets redacted', () => {
    const found = jsonOf(reader.get('db', 'disk'));
    expect(at(found, 'entity', 'name')).to.equal('db');
    expect(at(found, 'entity', 'labels')).to.deep.equal({ password: 'REDACTED', team: 'ops' });
    expect(at(found, 'is_incident')).to.equal(true);
  });

  it('give nothing for events that do not exist, of another namespace, or with a name that none has', () => {
    expect(reader.get('none', 'disk')).to.equal(undefined);
    expect(reader.get('../default/db', 'disk')).to.equal(undefined);
    expect(reader.get('db', 'a/b')).to.equal(undefined);
    expect(new EventLookups(stored).of('other').get('db', 'disk')).to.equal(undefined);
  });

  it('give one list to all that ask before it is begun, and a new one to those that ask later', async () => {
    const events = new Events([event('web'), event('db')]);
    const lookups = new EventLookups(events);
    const [one, other] = await Promise.all([lookups.of('default').list(), lookups.of('default').list()]);
    expect(events.lists).to.equal(1);
    expect(one).to.equal(other);
    expect(at(jsonOf('json' in one ? one.json : ''), 1, 'entity', 'name')).to.equal('db');
    await lookups.of('default').list();
    expect(events.lists).to.equal(2);
  });

  it('give no list of more than 500 events or 1,048,576 characters, instead of a part of it', async () => {
    const many = new EventLookups(new Events(Array.from({ length: 501 }, (_, n) => event(`e${n}`, ''))));
    const large = new EventLookups(
      new Events([event('a', 'x'.repeat(600 * 1024)), event('b', 'x'.repeat(600 * 1024))]),
    );
    expect(await large.of('default').list()).to.deep.equal({
      error: 'the events of the namespace have more than 1048576 characters',
    });
    expect(await many.of('default').list()).to.deep.equal({ error: 'the namespace has more than 500 events' });
  });
});
