import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { cloudProvider } from '../../../src/agent/system/cloud.ts';
import type { SystemTools } from '../../../src/agent/system/system-tools.ts';
import { systemClock } from '../../../src/main/process/system-clock.ts';

const NOWHERE = 'http://127.0.0.1:1';

const machineWith = (files: Record<string, string>): SystemTools => ({
  readText: (path) => Promise.resolve(files[path]),
  run: () => Promise.resolve(undefined),
});

describe('the cloud provider of a machine', () => {
  const servers: Server[] = [];

  /** A metadata service with these answers; it leaves all requests open without them. */
  async function serve(answer?: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer((request, response) => answer?.(request, response)).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  for (const { what, files, is } of [
    { what: 'the BIOS of Amazon', files: { '/sys/class/dmi/id/bios_vendor': 'Amazon EC2\n' }, is: 'EC2' },
    {
      what: 'the product of Google',
      files: { '/sys/class/dmi/id/product_name': 'Google Compute Engine\n' },
      is: 'GCP',
    },
    {
      what: 'the asset tag of Azure',
      files: { '/sys/class/dmi/id/chassis_asset_tag': '7783-7084-3265-9085-8269-3286-77\n' },
      is: 'Azure',
    },
    { what: 'the UUID of a guest of Xen', files: { '/sys/hypervisor/uuid': 'ec2e1916-9099-7caf\n' }, is: 'EC2' },
    { what: 'Hyper-V outside of Azure', files: { '/sys/class/dmi/id/sys_vendor': 'Microsoft Corporation\n' }, is: '' },
  ]) {
    it(`follows from ${what}`, async () => {
      const endpoints = { ec2: NOWHERE, azure: NOWHERE, gcp: NOWHERE };
      expect(await cloudProvider(machineWith(files), systemClock, endpoints)).to.equal(is);
    });
  }

  it('is EC2 when the metadata service issues a token', async () => {
    const ec2 = await serve((request, response) => {
      const isToken = request.method === 'PUT' && request.url === '/latest/api/token';
      response.writeHead(isToken && request.headers['x-aws-ec2-metadata-token-ttl-seconds'] === '60' ? 200 : 404).end();
    });
    expect(await cloudProvider(machineWith({}), systemClock, { ec2, azure: ec2, gcp: ec2 })).to.equal('EC2');
  });

  it('is Azure when the metadata service knows the instance', async () => {
    const azure = await serve((request, response) => {
      const isInstance = request.url === '/metadata/instance?api-version=2021-02-01';
      response.writeHead(isInstance && request.headers['metadata'] === 'true' ? 200 : 404).end('{}');
    });
    expect(await cloudProvider(machineWith({}), systemClock, { ec2: azure, azure, gcp: azure })).to.equal('Azure');
  });

  it('is GCP only when the answer has the header of Google', async () => {
    const gcp = await serve((_request, response) => {
      response.writeHead(200, { 'Metadata-Flavor': 'Google' }).end('1');
    });
    const other = await serve((_request, response) => void response.writeHead(200).end('a captive portal'));
    const elsewhere = { ec2: NOWHERE, azure: NOWHERE };
    expect(await cloudProvider(machineWith({}), systemClock, { ...elsewhere, gcp })).to.equal('GCP');
    expect(await cloudProvider(machineWith({}), systemClock, { ...elsewhere, gcp: other })).to.equal('');
  });

  it('is empty after 2 s when no metadata service answers', async () => {
    const silent = await serve();
    const startMs = performance.now();
    expect(await cloudProvider(machineWith({}), systemClock, { ec2: silent, azure: silent, gcp: silent })).to.equal('');
    expect(performance.now() - startMs).to.be.within(1_900, 4_000);
  });
});
