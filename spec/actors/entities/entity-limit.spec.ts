import { expect } from 'chai';
import { entityCount, hasRoomFor } from '../../../src/actors/entities/entity-limit.ts';
import { ActorSystem } from '../../../src/actors/system.ts';
import { entityWithDefaults } from '../../../src/resources/entity.ts';
import { EntityLimitReached } from '../../../src/resources/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const SYSTEM = 'mon-system';
const LIMIT = 2;
const USER = 'admin';

describe('the count of entities', () => {
  let store: MemoryStore;
  let system: ActorSystem;

  beforeEach(async () => {
    store = new MemoryStore();
    await start('host-a');
  });

  afterEach(() => system.stop());

  async function start(backendName: string): Promise<void> {
    const settings = { entityLimit: LIMIT };
    system = new ActorSystem({ store, clock: new ManualClock(), log: new RecordedLog(), backendName, settings });
    await system.start();
  }

  async function rename(backendName: string): Promise<void> {
    await system.stop();
    await start(backendName);
  }

  const create = (name: string) =>
    system.commands.createEntity(
      entityWithDefaults({ entity_class: 'proxy', metadata: { name, namespace: SYSTEM } }),
      USER,
    );
  const remove = (name: string) => system.commands.deleteEntity(SYSTEM, name, USER);

  /** Creates an entity and returns the error, or undefined. */
  const errorOfCreating = async (name: string): Promise<unknown> =>
    create(name).then(
      () => undefined,
      (error: unknown) => error,
    );

  it("excludes the backend's own entity, also after it is deleted and created again", async () => {
    expect(entityCount(store)).to.equal(0);
    await remove('host-a');
    expect(entityCount(store)).to.equal(0);
    await create('host-a');
    expect(entityCount(store)).to.equal(0);
  });

  it("includes all other entities of the backend's namespace", async () => {
    await create('one');
    await create('two');
    expect(entityCount(store)).to.equal(2);
    expect(await errorOfCreating('three')).to.be.instanceOf(EntityLimitReached);
    expect(hasRoomFor(store, LIMIT, SYSTEM, 'three')).to.equal(false);
    expect(hasRoomFor(store, LIMIT, SYSTEM, 'two')).to.equal(true);
    await remove('host-a');
    expect(hasRoomFor(store, LIMIT, SYSTEM, 'host-a')).to.equal(true);
    expect(hasRoomFor(store, LIMIT, 'default', 'host-a')).to.equal(false);
    await remove('one');
    expect(entityCount(store)).to.equal(1);
    expect(await errorOfCreating('three')).to.equal(undefined);
  });

  it('includes the entity of a former name of the backend until it is deleted or becomes the own one again', async () => {
    await rename('host-b');
    expect(entityCount(store)).to.equal(1);
    await rename('host-a');
    expect(entityCount(store)).to.equal(1);
    await remove('host-b');
    expect(entityCount(store)).to.equal(0);
    await rename('host-a');
    expect(entityCount(store)).to.equal(0);
  });

  it('excludes an entity that becomes the own one, and a former own one that was deleted', async () => {
    await create('host-b');
    expect(entityCount(store)).to.equal(1);
    await remove('host-a');
    await rename('host-b');
    expect(entityCount(store)).to.equal(0);
  });
});
