import { ATTACKS } from './attacks.ts';
import { HostilePeer } from './hostile-peer.ts';

/** So many do it, all at once. */
export interface AttackOrder {
  attack: string;
  attackers: number;
  agentPort: number;
}

/** Undefined when each attacker fared as it must. */
export interface AttackReport {
  failure: string | undefined;
}

let peers: HostilePeer[] = [];

async function attack({ attack: what, attackers, agentPort }: AttackOrder): Promise<void> {
  const act = ATTACKS[what]?.act;
  if (act === undefined) throw new Error(`nobody knows how to do it: ${what}`);
  const kept = (peer: HostilePeer): HostilePeer => {
    peers.push(peer);
    return peer;
  };
  const asOne = (one: number) =>
    act({
      connected: async () => kept(await HostilePeer.connect(agentPort)),
      asAgent: async (options) => kept(await HostilePeer.asAgent(agentPort, { ...options, name: `attacker-${one}` })),
    });
  await Promise.all(Array.from({ length: attackers }, (_, one) => asOne(one)));
}

function report(failure?: Error): void {
  process.send?.({ failure: failure?.stack } satisfies AttackReport);
}

// In a process of their own: whoever measures is not to wait for them. Called off by the next order, or by the end.
process.on('message', (order: AttackOrder | 'stop') => {
  for (const peer of peers) peer.destroy();
  peers = [];
  if (order === 'stop') report();
  else
    attack(order).then(() => {
      report();
    }, report);
});
