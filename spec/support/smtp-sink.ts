import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { listenLocally, portOf } from './local-server.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Header and text, with the line ends as they came. */
  data: string;
}

const END_OF_DATA = '\r\n.\r\n';

/** A mail server that keeps the mails that it receives. It speaks as much SMTP as a client needs to deliver one. */
export class SmtpSink {
  readonly mails: ReceivedMail[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#serve(socket);
    });
  }

  static async listen(): Promise<SmtpSink> {
    const server = createServer();
    const sink = new SmtpSink(server);
    await listenLocally(server);
    return sink;
  }

  get address(): string {
    return `127.0.0.1:${portOf(this.#server)}`;
  }

  #serve(socket: Socket): void {
    let received = '';
    let isData = false;
    let mail: ReceivedMail = { from: '', to: [], data: '' };
    const answer = (line: string): void => {
      socket.write(`${line}\r\n`);
    };
    const command = (line: string): void => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'MAIL') mail = { from: addressIn(line), to: [], data: '' };
      if (verb === 'RCPT') mail.to.push(addressIn(line));
      isData = verb === 'DATA';
      if (verb === 'QUIT') socket.end('221 bye\r\n');
      else answer(isData ? '354 go ahead' : '250 ok');
    };
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      for (;;) {
        const end = received.indexOf(isData ? END_OF_DATA : '\r\n');
        if (end < 0) return;
        const text = received.slice(0, end);
        received = received.slice(end + (isData ? END_OF_DATA.length : 2));
        if (isData) {
          this.mails.push({ ...mail, data: text });
          isData = false;
          answer('250 accepted');
        } else command(text);
      }
    });
    answer('220 sink ESMTP');
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The address in `MAIL FROM:<a@b>` and `RCPT TO:<a@b>`. */
const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';
