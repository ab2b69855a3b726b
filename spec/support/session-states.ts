import type { ApiClient } from './api-client.ts';
import { at } from './json-path.ts';

/** Returns the states of an agent's newest connection from the ledger; empty until its opening is durable. */
export async function sessionStates(api: ApiClient, agentName: string): Promise<(string | null)[]> {
  const entries = await api.ledger({ actor: 'connection' });
  const opened = entries.findLast(({ details }) => at(details, 'agentName') === agentName);
  return entries.filter(({ key }) => key === opened?.key).map(({ to }) => to);
}
