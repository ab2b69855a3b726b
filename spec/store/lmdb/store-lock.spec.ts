import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { lockStore, StoreInUse } from '../../../src/store/lmdb/store-lock.ts';
import { Contender, pidNamespace } from '../../support/contender.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const TRIES = 50;

describe('the lock of a store', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const lockFile = (): string => join(directory.path, 'lock');

  it('creates the directory, and leaves only its own file when it is released', () => {
    const path = join(directory.path, 'deep', 'store');
    lockStore(path).release();
    expect(readdirSync(path)).to.deep.equal(['lock']);
  });

  it('leaves nothing new when it is removed', () => {
    lockStore(join(directory.path, 'deep', 'store')).releaseAndRemove();
    expect(readdirSync(directory.path)).to.deep.equal([]);
    lockStore(directory.path).releaseAndRemove();
    expect(readdirSync(directory.path)).to.deep.equal([]);
  });

  it('leaves what existed before, and other files, when it is removed', () => {
    const path = join(directory.path, 'store');
    lockStore(path).release();
    lockStore(path).releaseAndRemove();
    expect(readdirSync(path)).to.deep.equal(['lock']);
    const lock = lockStore(join(directory.path, 'new', 'store'));
    writeFileSync(join(directory.path, 'new', 'other'), '');
    lock.releaseAndRemove();
    expect(readdirSync(join(directory.path, 'new'))).to.deep.equal(['other']);
  });

  it('keeps the file of another owner when it is removed', () => {
    const first = lockStore(directory.path);
    renameSync(lockFile(), `${lockFile()}.aside`);
    const second = lockStore(directory.path);
    first.releaseAndRemove();
    expect(() => lockStore(directory.path)).to.throw(StoreInUse);
    second.release();
  });

  for (const when of ['before', 'after'] as const) {
    it(`is held on a new file when its first one was removed ${when} it was opened`, () => {
      const path = join(directory.path, 'store');
      const first = lockStore(path);
      const removeFirst = (now: typeof when): void => {
        if (now === when && openings === 1) first.releaseAndRemove();
      };
      let openings = 0;
      const open = ((...args: Parameters<typeof openSync>): number => {
        openings += 1;
        removeFirst('before');
        const file = openSync(...args);
        removeFirst('after');
        return file;
      }) as typeof openSync;
      const second = lockStore(path, undefined, { open });
      expect(openings).to.equal(2);
      expect(() => lockStore(path)).to.throw(StoreInUse);
      second.release();
    });
  }

  it('rejects a second owner and names the first', () => {
    const lock = lockStore(directory.path);
    expect(() => lockStore(directory.path)).to.throw(StoreInUse, `store is in use by process ${process.pid}`);
    lock.release();
    lockStore(directory.path).release();
  });

  it('is free when a crash left its file incomplete', () => {
    writeFileSync(lockFile(), '{"pid":');
    lockStore(directory.path).release();
  });

  it('names no owner when its file is incomplete', () => {
    const lock = lockStore(directory.path);
    writeFileSync(lockFile(), '{"pid":');
    expect(() => lockStore(directory.path)).to.throw(StoreInUse, /^store is in use by another process$/);
    lock.release();
  });

  it('is held on the file of its name, also when the file is replaced', () => {
    const first = lockStore(directory.path);
    renameSync(lockFile(), `${lockFile()}.aside`);
    const second = lockStore(directory.path);
    expect(() => lockStore(directory.path)).to.throw(StoreInUse);
    for (const lock of [first, second]) lock.release();
  });

  describe('whose file is of an earlier version', () => {
    const write = (owner: object): void => {
      writeFileSync(lockFile(), JSON.stringify(owner));
    };

    it('is free when the process has ended', async () => {
      const child = spawn(process.execPath, ['-e', '']);
      await once(child, 'exit');
      write({ pid: child.pid, startedAt: '1' });
      lockStore(directory.path).release();
    });

    it('is free when another process now has the number of the owner', () => {
      write({ pid: process.pid, startedAt: '1' });
      lockStore(directory.path).release();
    });

    it('rejects a second owner while the process runs', () => {
      write({ pid: process.pid, startedAt: '' });
      expect(() => lockStore(directory.path)).to.throw(StoreInUse, `store is in use by process ${process.pid}`);
    });
  });

  /** In each try all processes take the lock at once, and those that were refused do so again. Returns the owners of each try. */
  async function ownersOf(contenders: readonly Contender[]): Promise<number[]> {
    const owners: number[] = [];
    for (let i = 0; i < TRIES; i++) {
      const atOnce = await Promise.all(contenders.map((contender) => contender.take()));
      const refused = contenders.filter((_, index) => atOnce[index] !== 'owner');
      const again = await Promise.all(refused.map((contender) => contender.take()));
      owners.push([...atOnce, ...again].filter((answer) => answer === 'owner').length);
      await Promise.all(contenders.map((contender) => contender.release()));
    }
    return owners;
  }

  for (const [where, prefix] of [
    ['two processes', []],
    ['two pid namespaces, or two processes where the machine allows no namespaces', pidNamespace() ?? []],
  ] as const) {
    it(`has one owner in each of ${TRIES} tries from ${where}`, async () => {
      const contenders = await Promise.all([1, 2].map(() => Contender.start(directory.path, prefix)));
      try {
        expect(await ownersOf(contenders)).to.deep.equal(Array.from({ length: TRIES }, () => 1));
      } finally {
        await Promise.all(contenders.map((contender) => contender.kill()));
      }
    });

    it(`has one owner in each of ${TRIES} tries from ${where} while a third one removes its file`, async () => {
      const store = join(directory.path, 'state', 'store');
      const contenders = await Promise.all([1, 2, 3].map(() => Contender.start(store, prefix)));
      const [removing, ...others] = contenders;
      try {
        for (let i = 0; i < TRIES; i++) {
          await removing?.take();
          const [, ...atOnce] = await Promise.all([
            removing?.releaseAndRemove(),
            ...others.map((contender) => contender.take()),
          ]);
          const refused = others.filter((_, index) => atOnce[index] !== 'owner');
          const again = await Promise.all(refused.map((contender) => contender.take()));
          const answers = [...atOnce, ...again];
          expect(answers.filter((answer) => answer === 'owner')).to.have.length(1);
          expect(answers.filter((answer) => !/^owner$|^store is in use by /.test(answer ?? ''))).to.deep.equal([]);
          await Promise.all(others.map((contender) => contender.releaseAndRemove()));
        }
      } finally {
        await Promise.all(contenders.map((contender) => contender.kill()));
      }
    });

    it(`is free at once after its owner of ${where} was killed`, async () => {
      const [first, second] = await Promise.all([1, 2].map(() => Contender.start(directory.path, prefix)));
      try {
        expect(await first?.take()).to.equal('owner');
        expect(await second?.take()).to.match(/^store is in use by process \d+$/);
        await first?.kill();
        expect(await second?.take()).to.equal('owner');
      } finally {
        await first?.kill();
        await second?.kill();
      }
    });
  }

  describe('on a machine', () => {
    const path = process.env['PATH'];

    afterEach(() => {
      process.env['PATH'] = path;
    });

    /** Lets PATH have these programs only. */
    function provide(...programs: string[]): void {
      const bin = join(directory.path, 'bin');
      mkdirSync(bin);
      for (const program of programs) {
        const places = (path ?? '').split(delimiter).map((place) => join(place, program));
        symlinkSync(places.find((place) => existsSync(place)) ?? '', join(bin, program));
      }
      process.env['PATH'] = bin;
    }

    for (const program of ['flock', 'perl']) {
      it(`has one owner with ${program} alone`, () => {
        provide(program);
        const lock = lockStore(join(directory.path, 'store'));
        expect(() => lockStore(join(directory.path, 'store'))).to.throw(StoreInUse);
        lock.release();
        lockStore(join(directory.path, 'store')).release();
      });
    }

    it('is not taken without flock and perl, and names them', () => {
      provide();
      expect(() => lockStore(directory.path)).to.throw('flock and perl are not in PATH; install one of them');
    });
  });

  it('names the host of its owner when that is another one, such as a container', () => {
    const lock = lockStore(directory.path);
    const owner = { pid: 7, startedAt: '1', host: `not-${hostname()}`, released: 'with the descriptor' };
    writeFileSync(lockFile(), JSON.stringify(owner));
    expect(() => lockStore(directory.path)).to.throw(`store is in use by process 7 of host not-${hostname()}`);
    lock.release();
  });

  describe('on Windows', () => {
    /** Opens like Windows: a file that was opened without sharing cannot be opened again. */
    function windows() {
      const opened = new Map<string, number>();
      const open = ((path: string, flags: number, mode: number): number => {
        const before = opened.get(path);
        if (before !== undefined && isOpen(before)) throw Object.assign(new Error('resource busy'), { code: 'EBUSY' });
        expect(flags & 0x10000000).to.not.equal(0);
        const file = openSync(path, flags & ~0x10000000, mode);
        opened.set(path, file);
        return file;
      }) as typeof openSync;
      return { platform: 'win32', open } as const;
    }

    function isOpen(file: number): boolean {
      try {
        fstatSync(file);
        return true;
      } catch {
        return false;
      }
    }

    it('is the lock file itself, which nobody else can open, and needs no other program', () => {
      const system = windows();
      const { PATH } = process.env;
      process.env['PATH'] = '';
      try {
        const lock = lockStore(directory.path, undefined, system);
        expect(() => lockStore(directory.path, undefined, system)).to.throw(StoreInUse, 'store is in use by');
        lock.release();
        lockStore(directory.path, undefined, system).release();
      } finally {
        process.env['PATH'] = PATH;
      }
    });
  });
});
