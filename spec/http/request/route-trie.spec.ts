import { Router } from '@koa/router';
import { expect } from 'chai';
import fc from 'fast-check';
import { parametersOf, RouteTrie, segmentsOf } from '../../../src/http/request/route-trie.ts';

const nothing = (): void => undefined;

/** The routes that a router and its trie find for a path: each as its path with its parameters. */
function foundBy(paths: readonly string[], path: string) {
  const router = new Router({ sensitive: true, strict: true });
  for (const declared of paths) router.register(declared, ['GET'], nothing);
  const segments = segmentsOf(path);
  const found = new RouteTrie(router).find(segments);
  return {
    byTrie: found.map((route) => [route.order, parametersOf(route, segments)]),
    byRouter: router
      .match(path, 'GET')
      .path.map((layer) => [router.stack.indexOf(layer), layer.params(path, layer.captures(path))]),
  };
}

describe('a trie of routes', () => {
  it('finds the same routes and parameters as the router, in the same order', () => {
    const segment = fc.constantFrom('a', 'b', 'A', 'a.b', ':x', ':y');
    const declared = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${distinct(parts).join('/')}`);
    const sent = fc.constantFrom(
      '',
      'a',
      'b',
      'A',
      'a.b',
      'axb',
      '%61',
      '%',
      '%2F',
      '%E0%A4',
      'ü',
      ':x',
      '__proto__',
      '+',
    );
    const requested = fc.array(sent, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(fc.uniqueArray(declared, { maxLength: 12 }), requested, (paths, path) => {
        const { byTrie, byRouter } = foundBy(paths, path);
        expect(byTrie).to.deep.equal(byRouter);
      }),
      { numRuns: 500 },
    );
  });

  it('finds the fixed and the parameterised route of one path', () => {
    expect(foundBy(['/:x/list', '/a/:y', '/a/list'], '/a/list').byTrie).to.deep.equal([
      [0, { x: 'a' }],
      [1, { y: 'list' }],
      [2, {}],
    ]);
  });

  it('rejects a route with a path that it cannot hold', () => {
    for (const path of ['/files/*rest', '/a{/b}', '/:from-:to']) {
      expect(() => foundBy([path], '/')).to.throw(TypeError, path);
    }
  });
});

/** A path has each parameter once. */
const distinct = (parts: readonly string[]): string[] =>
  parts.map((part, index) => (part.startsWith(':') ? `${part}${index}` : part));
