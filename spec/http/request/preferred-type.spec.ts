import { expect } from 'chai';
import { prefersPage } from '../../../src/http/request/preferred-type.ts';

describe('a header Accept', () => {
  for (const [accept, isPage] of [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
    ['text/html', true],
    ['TEXT/HTML;level=1', true],
    ['application/xhtml+xml', true],
    ['application/json;q=0.5, text/html', true],
    ['application/json, text/html;q=0.9', false],
    ['application/json, text/html', false],
    ['text/html;q=0', false],
    ['text/html;q=high', false],
    ['*/*', false],
    ['application/json', false],
    ['', false],
    [undefined, false],
  ] as const) {
    it(`${isPage ? 'prefers' : 'does not prefer'} a page: ${accept ?? 'absent'}`, () => {
      expect(prefersPage(accept)).to.equal(isPage);
    });
  }
});
