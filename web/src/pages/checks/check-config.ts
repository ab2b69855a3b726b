/** The definition of a check, as far as the views show it. */
export interface CheckConfig {
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  command: string;
  interval: number;
  cron?: string;
  publish: boolean;
  subscriptions: readonly string[] | null;
  handlers: readonly string[] | null;
  ttl: number;
  timeout: number;
  round_robin: boolean;
  proxy_entity_name: string;
  proxy_requests?: object;
}

const MINUTE_S = 60;
const HOUR_S = 3_600;

const every = (seconds: number): string => {
  if (seconds % HOUR_S === 0) return seconds === HOUR_S ? 'every hour' : `every ${seconds / HOUR_S} hours`;
  if (seconds % MINUTE_S === 0) return seconds === MINUTE_S ? 'every minute' : `every ${seconds / MINUTE_S} minutes`;
  return seconds === 1 ? 'every second' : `every ${seconds} seconds`;
};

/** The schedule in words. */
export function scheduleOf({ cron, interval, publish, round_robin: isRing }: CheckConfig): string {
  const when = cron !== undefined && cron !== '' ? `cron ${cron}` : every(interval);
  return `${when}${isRing ? ', on one agent in turn' : ''}${publish ? '' : ', only on request'}`;
}
