import { expect } from 'chai';
import { InvalidProxy, proxyFor } from '../../../src/agent/connection/proxy.ts';

const BOTH = { HTTP_PROXY: 'http://clear:1', HTTPS_PROXY: 'http://secure:2' };

describe('the proxy for a backend', () => {
  for (const { what, url = 'wss://backend.example.com:8081/', environment, is } of [
    { what: 'none without the variable', environment: {}, is: undefined },
    { what: 'that of HTTPS_PROXY for wss', environment: BOTH, is: 'http://secure:2/' },
    { what: 'that of HTTP_PROXY for ws', url: 'ws://b:8081/', environment: BOTH, is: 'http://clear:1/' },
    { what: 'that of the lower-case variable', environment: { https_proxy: 'http://p:3' }, is: 'http://p:3/' },
    {
      what: 'that of the upper-case variable first',
      environment: { https_proxy: 'http://low:1', HTTPS_PROXY: 'http://up:2' },
      is: 'http://up:2/',
    },
    {
      what: 'that of the next variable when one is empty',
      environment: { HTTPS_PROXY: '', https_proxy: 'http://p:3' },
      is: 'http://p:3/',
    },
    {
      what: 'one without a scheme',
      environment: { HTTPS_PROXY: 'p.example.com:3128' },
      is: 'http://p.example.com:3128/',
    },
    { what: 'one with TLS', environment: { HTTPS_PROXY: 'https://u:p@p:8443' }, is: 'https://u:p@p:8443/' },
    { what: 'none for localhost', url: 'wss://localhost:8081/', environment: BOTH, is: undefined },
    { what: 'none for a loopback address', url: 'wss://127.8.0.1:8081/', environment: BOTH, is: undefined },
    { what: 'none for the loopback address of IPv6', url: 'wss://[::1]:8081/', environment: BOTH, is: undefined },
  ]) {
    it(`is ${what}`, () => {
      expect(proxyFor(url, environment)?.href).to.equal(is);
    });
  }

  for (const { exceptions, host, isProxied } of [
    { exceptions: '*', host: 'a.b', isProxied: false },
    { exceptions: 'example.com', host: 'example.com', isProxied: false },
    { exceptions: 'example.com', host: 'a.example.com', isProxied: false },
    { exceptions: 'example.com', host: 'anexample.com', isProxied: true },
    { exceptions: '.example.com', host: 'a.example.com', isProxied: false },
    { exceptions: '.example.com', host: 'example.com', isProxied: true },
    { exceptions: '*.example.com', host: 'a.example.com', isProxied: false },
    { exceptions: ' a.b , Example.COM', host: 'EXAMPLE.com', isProxied: false },
    { exceptions: 'example.com:8081', host: 'example.com', isProxied: false },
    { exceptions: 'example.com:80', host: 'example.com', isProxied: true },
    { exceptions: '10.0.0.0/8', host: '10.1.2.3', isProxied: false },
    { exceptions: '10.0.0.0/8', host: '11.1.2.3', isProxied: true },
    { exceptions: '10.0.0.0/99', host: '10.1.2.3', isProxied: true },
    { exceptions: '10.1.2.3', host: '10.1.2.3', isProxied: false },
    { exceptions: '10.1.2.3:9', host: '10.1.2.3', isProxied: true },
    { exceptions: 'fd00::/8', host: '[fd00::1]', isProxied: false },
    { exceptions: 'fd00::1', host: '[fd00::1]', isProxied: false },
    { exceptions: ',,', host: 'a.b', isProxied: true },
  ]) {
    it(`is ${isProxied ? 'used' : 'not used'} for ${host} with NO_PROXY=${exceptions}`, () => {
      const proxy = proxyFor(`wss://${host}:8081/`, { ...BOTH, NO_PROXY: exceptions });
      expect(proxy !== undefined).to.equal(isProxied);
    });
  }

  for (const { value, text } of [
    { value: 'socks5://u:secret@p:1080', text: 'HTTPS_PROXY must have http:// or https:// scheme, not socks5://' },
    {
      value: 'http://u:se%cret@p:1080',
      text: 'HTTPS_PROXY must have %25 for a percent sign in its user and password',
    },
    { value: 'http://u:secret@:bad:port', text: 'HTTPS_PROXY is not a valid URL of a proxy' },
  ]) {
    it(`is refused without its password in the text: ${text}`, () => {
      expect(() => proxyFor('wss://b:8081/', { HTTPS_PROXY: value })).to.throw(InvalidProxy, new RegExp(`^${text}$`));
    });
  }
});
