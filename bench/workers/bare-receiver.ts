import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Counts datagrams. Sends its port first, and the count when it receives a message. */
const socket = createSocket('udp4');
let received = 0;
socket.on('message', () => (received += 1));
socket.bind(0, '127.0.0.1');
await once(socket, 'listening');
// As the agent asks for it.
socket.setRecvBufferSize(8 * 1024 * 1024);
process.send?.(socket.address().port);
process.once('message', () => {
  process.send?.(received);
  socket.close();
});
