import { signal } from '@preact/signals';

export interface Notice {
  id: number;
  text: string;
  tone: 'plain' | 'error';
  action: { label: string; run: () => void } | undefined;
}

const SHOWN_MS = 6_000;
const MAX_NOTICES = 4;

export const notices = signal<readonly Notice[]>([]);
/** The text for screen readers. */
export const announcement = signal('');

let lastId = 0;

export function closeNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Shows a line at the foot of the page for a few seconds. */
export function notify(
  text: string,
  {
    tone = 'plain',
    action,
    forMs = SHOWN_MS,
  }: { tone?: Notice['tone']; action?: Notice['action']; forMs?: number } = {},
): number {
  lastId += 1;
  const id = lastId;
  notices.value = [...notices.value.slice(1 - MAX_NOTICES), { id, text, tone, action }];
  setTimeout(() => closeNotice(id), forMs);
  return id;
}
