import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { dropsIn, readUdpDrops } from '../../../src/agent/statsd/udp-drops.ts';

const TABLE = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 2252: 0100007F:1FBD 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 513702 2 000000009562897d 12
 3523: 00000000:1FBD 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 487080 2 00000000a9b198b4 3
 3524: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 487081 2 00000000a9b198b5 99
`;

describe('the datagrams that the system dropped', () => {
  it('are those of all sockets with the port', () => {
    expect(dropsIn(TABLE, 8125)).to.equal(15);
    expect(dropsIn(TABLE, 53)).to.equal(99);
    expect(dropsIn(TABLE, 1)).to.equal(0);
    expect(dropsIn('', 8125)).to.equal(0);
  });

  it('are counted when a socket is not read', async () => {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4_096 }).bind(0, '127.0.0.1');
    const sender = createSocket('udp4');
    try {
      await once(socket, 'listening');
      const { port } = socket.address();
      // The socket is read in a later tick than the datagrams are sent.
      const sent = Array.from(
        { length: 200 },
        () => new Promise((resolve) => sender.send(Buffer.alloc(1_000), port, '127.0.0.1', resolve)),
      );
      await Promise.all(sent);
      await delay(10);
      expect(await readUdpDrops(port)).to.be.within(1, 200);
    } finally {
      socket.close();
      sender.close();
    }
  });
});
