import { signal } from '@preact/signals';

const SECOND_MS = 1_000;

/** The time, Unix ms, once a second. */
export const nowMs = signal(Date.now());

setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now();
}, SECOND_MS);
