import { expect } from 'chai';
import * as fc from 'fast-check';
import { networkContains, parseAddress, parseNetwork } from '../../src/resources/ip-network.ts';

const contains = (network: string, text: string): boolean => {
  const address = parseAddress(text);
  return address !== undefined && networkContains(parseNetwork(network), address);
};

describe('an IP network', () => {
  it('contains the addresses that have its prefix', () => {
    for (const [network, inside, outside] of [
      ['10.0.0.0/8', '10.255.0.1', '11.0.0.0'],
      ['192.168.4.0/22', '192.168.7.255', '192.168.8.0'],
      ['127.0.0.1', '127.0.0.1', '127.0.0.2'],
      ['0.0.0.0/0', '8.8.8.8', '2001:4860::8888'],
      ['fe80::/10', 'febf::1', 'fec0::1'],
      ['::1', '::1', '::2'],
      ['2001:db8::/33', '2001:db8:7fff::', '2001:db8:8000::'],
      ['::/0', '2001:4860::8888', '8.8.8.8'],
    ] as const) {
      expect(contains(network, inside), `${inside} in ${network}`).to.equal(true);
      expect(contains(network, outside), `${outside} in ${network}`).to.equal(false);
    }
  });

  it('contains an IPv4 address in every form that leads to it', () => {
    const forms = ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::'];
    for (const form of [...forms, '::ffff:127.0.0.1%eth0']) expect(contains('127.0.0.0/8', form), form).to.equal(true);
  });

  it('is refused with its rule when it is none', () => {
    for (const text of [
      '',
      '10.0.0.0/33',
      '10.0.0/8',
      '010.0.0.1',
      '1.2.3.4.5',
      '256.1.1.1',
      '::1/129',
      'a::b::c',
      'host',
    ]) {
      expect(() => parseNetwork(text), text).to.throw(/must (be|have)/);
    }
    for (const text of ['::ffff:10.0.0.0/104', '2002::/16', '64:ff9b::/96']) {
      expect(() => parseNetwork(text), text).to.throw('must be written as a network of IPv4');
    }
  });

  it('of every address contains that address alone', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.oneof(fc.ipV4(), fc.ipV6()), (one, other) => {
        expect(contains(one, one)).to.equal(true);
        const same = JSON.stringify(parseAddress(one)) === JSON.stringify(parseAddress(other));
        expect(contains(one, other)).to.equal(same);
      }),
    );
  });

  it('is parsed or refused, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:./%]*$/)), (text) => {
        expect(() => parseAddress(text)).not.to.throw();
      }),
    );
  });
});
