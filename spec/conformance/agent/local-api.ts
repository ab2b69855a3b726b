import { type IncomingHttpHeaders, request } from 'node:http';
import type { RunningAgent } from '../../agent/in-process-agent.ts';
import { eventually } from '../../support/eventually.ts';

const LISTENING = /^starting api on address: .*:(\d+)$/;

export interface LocalAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A client of the HTTP API of an agent. */
export class LocalApi {
  readonly port: number;

  private constructor(port: number) {
    this.port = port;
  }

  /** Waits until the agent listens. It must log at the level info or lower. */
  static async of(agent: RunningAgent): Promise<LocalApi> {
    const port = await eventually(
      () => agent.log.map(({ msg }) => LISTENING.exec(String(msg))?.[1]).find((found) => found !== undefined),
      Boolean,
      { what: 'the HTTP API of the agent', withinMs: 10_000 },
    );
    return new LocalApi(Number(port));
  }

  post(event: object): Promise<LocalAnswer> {
    return this.send('POST', '/events', JSON.stringify(event));
  }

  send(method: string, path: string, body = '', headers: Record<string, string> = {}): Promise<LocalAnswer> {
    return new Promise((resolve, reject) => {
      const length = { 'Content-Length': String(Buffer.byteLength(body)) };
      const options = { host: '127.0.0.1', port: this.port, method, path, headers: { ...length, ...headers } };
      const sent = request({ ...options, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
