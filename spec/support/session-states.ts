import type { ApiClient } from './api-client.ts';
import { at } from './json-path.ts';

/** The states that the newest connection of an agent went through, from the ledger; empty before its opening is durable. */
export async function sessionStates(api: ApiClient, agentName: string): Promise<(string | null)[]> {
  const entries = await api.ledger({ actor: 'connection' });
  const opened = entries.findLast(({ details }) => at(details, 'agentName') === agentName);
  return entries.filter(({ key }) => key === opened?.key).map(({ to }) => to);
}
