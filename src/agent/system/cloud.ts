import { request } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import type { SystemTools } from './system-tools.ts';

/** Metadata services answer from the same host. Elsewhere nothing answers, and the agent must not wait for it. */
const METADATA_TIMEOUT_MS = 2_000;

const DMI_DIR = '/sys/class/dmi/id';
/** The asset tag of all virtual machines of Azure; the manufacturer alone is also that of Hyper-V elsewhere. */
const AZURE_ASSET_TAG = '7783-7084-3265-9085-8269-3286-77';

export type CloudProvider = 'EC2' | 'Azure' | 'GCP' | '';

/** The addresses of the metadata services, without a path. */
export interface MetadataEndpoints {
  readonly ec2: string;
  readonly azure: string;
  readonly gcp: string;
}

export const METADATA_ENDPOINTS: MetadataEndpoints = {
  ec2: 'http://169.254.169.254',
  azure: 'http://169.254.169.254',
  gcp: 'http://metadata.google.internal',
};

interface Query {
  provider: CloudProvider;
  url: string;
  method?: string;
  headers: Record<string, string>;
  /** A header that proves the provider, because its address may also belong to another. */
  proof?: [name: string, value: string];
}

const queriesTo = ({ ec2, azure, gcp }: MetadataEndpoints): Query[] => [
  {
    provider: 'EC2',
    url: `${ec2}/latest/api/token`,
    method: 'PUT',
    headers: { 'X-aws-ec2-metadata-token-ttl-seconds': '60' },
  },
  { provider: 'Azure', url: `${azure}/metadata/instance?api-version=2021-02-01`, headers: { Metadata: 'true' } },
  {
    provider: 'GCP',
    url: `${gcp}/computeMetadata/v1/instance/id`,
    headers: { 'Metadata-Flavor': 'Google' },
    proof: ['metadata-flavor', 'Google'],
  },
];

/** Resolves to the provider when its metadata service answers, and rejects otherwise. No proxy is used. */
async function askProvider({ provider, url, method, headers, proof }: Query, signal: AbortSignal) {
  return new Promise<CloudProvider>((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false, signal }, (response) => {
      response.destroy();
      const isProven = proof === undefined || response.headers[proof[0]] === proof[1];
      if (response.statusCode === 200 && isProven) resolve(provider);
      else reject(new Error(`status ${response.statusCode}`));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Identifies the provider from the names in the firmware. */
async function providerInFirmware({ readText }: SystemTools): Promise<CloudProvider> {
  const files = ['bios_version', 'bios_vendor', 'sys_vendor', 'product_name', 'chassis_asset_tag'];
  const texts = await Promise.all(files.map((file) => readText(`${DMI_DIR}/${file}`)));
  const text = texts.join('\n').toLowerCase();
  if (text.includes('amazon')) return 'EC2';
  if (text.includes('google')) return 'GCP';
  if (text.includes(AZURE_ASSET_TAG)) return 'Azure';
  return (await readText('/sys/hypervisor/uuid'))?.toLowerCase().startsWith('ec2') === true ? 'EC2' : '';
}

/** Detects the cloud that this machine runs in, within 2 s. The first metadata service that answers decides; empty for none. */
export async function cloudProvider(
  tools: SystemTools,
  clock: Pick<Clock, 'after'>,
  endpoints = METADATA_ENDPOINTS,
): Promise<CloudProvider> {
  const known = await providerInFirmware(tools);
  if (known !== '') return known;
  const waiting = new AbortController();
  const cancel = clock.after(METADATA_TIMEOUT_MS, () => waiting.abort());
  const answers = queriesTo(endpoints).map((query) => askProvider(query, waiting.signal));
  try {
    return await Promise.any(answers);
  } catch {
    // No service answers on a machine that is in none of these clouds.
    return '';
  } finally {
    cancel();
    waiting.abort();
  }
}
