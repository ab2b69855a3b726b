import { computed, effect, signal } from '@preact/signals';
import { CORE, listAll } from '../api/client.ts';
import { path } from '../routing/location.ts';
import { changeSettings, settings } from './settings.ts';

const IN_PATH = /^\/n\/([^/]+)/;

const named = computed(() => {
  const [, name] = IN_PATH.exec(path.value) ?? [];
  return name === undefined ? undefined : decodeURIComponent(name);
});

/** The namespace of the address; on pages of the whole backend, the last one. */
export const namespace = computed(() => named.value ?? settings.value.namespace);

effect(() => {
  const name = named.value;
  if (name !== undefined && name !== settings.peek().namespace) changeSettings({ namespace: name });
});

/** The namespaces that the user may see. */
export const namespaces = signal<readonly string[]>([]);

export async function readNamespaces(): Promise<void> {
  namespaces.value = (await listAll<{ name: string }>(`${CORE}/namespaces`)).map(({ name }) => name);
}
