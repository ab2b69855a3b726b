type Make<T> = () => T | Promise<T>;
type End<T> = (made: T) => unknown;

/** The end functions of the existing fixtures, the newest last. */
const endings: (() => unknown)[] = [];

/**
 * Makes an object before each test of the current suite and ends it after the test, with `end` or with its method `stop`. Fixtures end
 * in the reverse order of their creation. The function returns a proxy of the object of the running test: use its members, and do not
 * compare the proxy itself.
 */
export function perTest<T extends object>(make: Make<T>, end: End<T> = stop): T {
  const { begin, proxy } = fixture(make, end);
  beforeEach(begin);
  afterEach(() => endings.pop()?.());
  return proxy;
}

/** Like `perTest`, with one object for all tests of the suite. */
export function perSuite<T extends object>(make: Make<T>, end: End<T> = stop): T {
  const { begin, proxy } = fixture(make, end);
  before(begin);
  after(() => endings.pop()?.());
  return proxy;
}

async function stop(made: object): Promise<void> {
  if ('stop' in made && typeof made.stop === 'function') await made.stop();
}

function fixture<T extends object>(make: Make<T>, end: End<T>): { begin(): Promise<void>; proxy: T } {
  let current: T | undefined;
  const proxy = proxyOf(() => {
    if (current === undefined) throw new Error('a fixture can be used only while its tests run');
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
  return { begin, proxy };
}

/** Returns a proxy of an object that does not exist yet when the suite is declared. */
function proxyOf<T extends object>(current: () => T): T {
  return new Proxy<T>({} as T, {
    get: (_target, name) => {
      const made = current();
      const value: unknown = Reflect.get(made, name, made);
      return typeof value === 'function' ? (value.bind(made) as unknown) : value;
    },
    set: (_target, name, value) => Reflect.set(current(), name, value),
  });
}
