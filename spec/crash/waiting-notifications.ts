import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { RestartableProcess } from '../support/restartable-process.ts';

const AT_ONCE = 50;
/** The runs that are active when the backend is killed. */
const RUNNING = 25;
/** Notes its notification when it begins and when it ends, which it does only once the file `go` exists. */
const HANDLER = `cat > /dev/null; echo "$MON_NOTIFICATION_ID" >> "$DIR/begun"
until [ -e "$DIR/go" ]; do sleep 0.3; done
echo "$MON_NOTIFICATION_ID" >> "$DIR/done"`;

/** Kills a backend while `count` notifications wait. */
export function describeWaitingNotifications(count: number): void {
  describe(`a backend that is killed while ${count} notifications wait`, function () {
    this.timeout(120_000);
    const program = perTest(() => RestartableProcess.start());

    function idsIn(file: string): string[] {
      const path = program.path(file);
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
    }

    async function put(check: string): Promise<void> {
      const event = proxyEvent('sw-1', check, { status: 1, handlers: ['note'] });
      expect(await program.api.put(`/ns/default/events/sw-1/${check}`, event)).to.have.property('status', 200);
    }

    it('delivers each at least once after its next start, and repeats with the same id', async () => {
      const metadata = { name: 'note', namespace: 'default' };
      const handler = { metadata, type: 'pipe', command: HANDLER, env_vars: [`DIR=${program.path('')}`] };
      expect(await program.api.put('/ns/default/handlers/note', handler)).to.have.property('status', 201);
      for (let from = 0; from < count; from += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => put(`c${from + n}`)));
      }
      await eventually(() => idsIn('begun').length === RUNNING, Boolean, { what: 'the first runs', withinMs: 10_000 });
      const interrupted = idsIn('begun');
      await program.kill();
      writeFileSync(program.path('go'), '');
      await program.resume();
      const delivered = (): Set<string> => new Set(idsIn('done'));
      await eventually(() => delivered().size === count, Boolean, { what: 'all events', withinMs: 60_000 });
      expect([...delivered()]).to.include.members(interrupted);
      const { json } = await eventually(
        () => program.api.get('/api/mon/v1/namespaces/default/events/sw-1/c0/notifications'),
        (answer) => (answer.json as object[]).length === 1,
      );
      expect(at(json, 0)).to.include({ handler: 'note', outcome: 'handled' });
      expect(delivered().has(String(at(json, 0, 'id')))).to.equal(true);
    });
  });
}
