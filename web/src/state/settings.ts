import { effect, signal } from '@preact/signals';

/** The user's settings for this browser. */
export interface Settings {
  theme: 'system' | 'light' | 'dark';
  contrast: 'normal' | 'high';
  /** Whether single keys are shortcuts. */
  keys: boolean;
  namespace: string;
}

const KEY = 'mon.settings';
const DEFAULTS: Settings = { theme: 'system', contrast: 'normal', keys: true, namespace: 'default' };

export const settings = signal<Settings>({
  ...DEFAULTS,
  ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>),
});

export function changeSettings(changes: Partial<Settings>): void {
  settings.value = { ...settings.value, ...changes };
  localStorage.setItem(KEY, JSON.stringify(settings.value));
}

effect(() => {
  const { theme, contrast } = settings.value;
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
  if (contrast === 'high') dataset['contrast'] = 'high';
  else delete dataset['contrast'];
});
