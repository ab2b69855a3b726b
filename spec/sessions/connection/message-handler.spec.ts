import { expect } from 'chai';
import type { AgentSession } from '../../../src/actors/agents/agent-session.ts';
import { StoreUnavailable } from '../../../src/resources/errors.ts';
import { MessageHandler } from '../../../src/sessions/connection/message-handler.ts';
import { CorruptRecord } from '../../../src/store/encoding/sealed.ts';
import { jsonCodec } from '../../../src/wire/codec.ts';
import { encodeFrame } from '../../../src/wire/frame.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

describe('a numbered event that is refused', () => {
  const ends: [string, Error, string][] = [
    ['a damaged record', new CorruptRecord('agentQueues default/a: checksum does not match'), 'event failed'],
    ['a failed write', new StoreUnavailable('no space left on device'), 'store failed'],
  ];
  for (const [what, error, end] of ends) {
    it(`ends its session when it cannot be acknowledged because of ${what}`, () => {
      const calls: string[] = [];
      const notUsed = (): never => expect.fail('an event was accepted');
      const handler = new MessageHandler({ queueId: 'q' } as AgentSession, {
        agents: {
          receiveKeepalive: notUsed,
          receiveEvent: notUsed,
          receiveStop: notUsed,
          acknowledgeRefused: () => {
            throw error;
          },
        },
        codec: jsonCodec,
        log: new RecordedLog(),
        keepaliveReceived: notUsed,
        rejected: () => calls.push('rejected'),
        protocolViolated: notUsed,
        storeFailed: () => calls.push('store failed'),
        eventFailed: () => calls.push('event failed'),
      });
      handler.handle(encodeFrame('event 7', 'not JSON'));
      expect(calls).to.deep.equal(['rejected', end]);
    });
  }
});
