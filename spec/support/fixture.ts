type Make<T> = () => T | Promise<T>;
type End<T> = (made: T) => unknown;

/** Of what there is now; the last is the youngest. */
const endings: (() => unknown)[] = [];

/** Made before each test of the suite that asks, ended after it: by `stop`, if it has one, unless `end` says how. Fixtures
 *  end in the reverse order of their making. What is returned stands for the one of the test that runs: it is there to be
 *  used, not to be compared. */
export function perTest<T extends object>(make: Make<T>, end: End<T> = stop): T {
  const { begin, standIn } = fixture(make, end);
  beforeEach(begin);
  afterEach(() => endings.pop()?.());
  return standIn;
}

/** The same, once for all tests of the suite. */
export function perSuite<T extends object>(make: Make<T>, end: End<T> = stop): T {
  const { begin, standIn } = fixture(make, end);
  before(begin);
  after(() => endings.pop()?.());
  return standIn;
}

async function stop(made: object): Promise<void> {
  if ('stop' in made && typeof made.stop === 'function') await made.stop();
}

function fixture<T extends object>(make: Make<T>, end: End<T>): { begin(): Promise<void>; standIn: T } {
  let current: T | undefined;
  const standIn = standInFor(() => {
    if (current === undefined) throw new Error('a fixture is there only while tests run');
    return current;
  });
  const begin = async (): Promise<void> => {
    const made = await make();
    current = made;
    endings.push(() => {
      current = undefined;
      return end(made);
    });
  };
  return { begin, standIn };
}

/** A suite names its fixtures before there are any. */
function standInFor<T extends object>(current: () => T): T {
  return new Proxy<T>({} as T, {
    get: (_target, name) => {
      const made = current();
      const value: unknown = Reflect.get(made, name, made);
      return typeof value === 'function' ? (value.bind(made) as unknown) : value;
    },
    set: (_target, name, value) => Reflect.set(current(), name, value),
  });
}
