import { ATTACKS } from './attacks.ts';
import { HostilePeer } from './hostile-peer.ts';

/** Orders `attackers` peers to perform one attack at the same time. */
export interface AttackOrder {
  attack: string;
  attackers: number;
  agentPort: number;
}

/** The stack of the first failed expectation; undefined if the backend treated every attacker as expected. */
export interface AttackReport {
  failure: string | undefined;
}

let peers: HostilePeer[] = [];

async function attack({ attack: what, attackers, agentPort }: AttackOrder): Promise<void> {
  const act = ATTACKS[what]?.act;
  if (act === undefined) throw new Error(`unknown attack: ${what}`);
  const tracked = (peer: HostilePeer): HostilePeer => {
    peers.push(peer);
    return peer;
  };
  const asOne = (one: number) =>
    act({
      connected: async () => tracked(await HostilePeer.connect(agentPort)),
      asAgent: async (options) =>
        tracked(await HostilePeer.asAgent(agentPort, { ...options, name: `attacker-${one}` })),
    });
  await Promise.all(Array.from({ length: attackers }, (_, one) => asOne(one)));
}

function report(failure?: Error): void {
  process.send?.({ failure: failure?.stack } satisfies AttackReport);
}

// The attackers run in their own process, so that they do not delay the measurements. The next message ends the previous attack.
process.on('message', (order: AttackOrder | 'stop') => {
  for (const peer of peers) peer.destroy();
  peers = [];
  if (order === 'stop') report();
  else
    attack(order).then(() => {
      report();
    }, report);
});
