/** Paths on a grid of 20 by 20, drawn as lines. */
const ICONS = {
  home: 'M3 9.5 10 3.5l7 6M5 8.5V16.5h10V8.5M8.5 16.5v-4.5h3v4.5',
  events: 'M2 10.5h3.5l2-5.5 3.5 10 2.5-6.5 1.2 2H18',
  entities: 'M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6 6.5h.01M6 13.5h.01',
  silences: 'M10 3.5a4 4 0 0 1 4 4c0 4 1.5 5.5 1.5 5.5H7M4.5 13S6 11.5 6 7.5M8.5 16h3M3 3l14 14',
  notifications: 'M10 3.5a4 4 0 0 0-4 4c0 4-1.5 5.5-1.5 5.5h11S14 11.5 14 7.5a4 4 0 0 0-4-4M8.5 16h3',
  aggregates: 'M4 16.5v-5M8 16.5v-9M12 16.5v-7M16 16.5v-13',
  checks: 'M4 10.5l4 4 8-9',
  handlers: 'M3 10h6M9 10l4-5h4M9 10l4 5h4M14.5 2.5 17 5l-2.5 2.5M14.5 12.5 17 15l-2.5 2.5',
  users:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2 16.5c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5M13 4a3 3 0 0 1 0 5.5M15 12.5c2 .5 3 2 3 4',
  agents: 'M4 4h12v8H4zM7 16.5h6M10 12v4.5',
  machines: 'M3 4h5v4H3zM12 12h5v4h-5zM8 6h4.5a2 2 0 0 1 2 2v3.5M12.5 9.8l2 2 2-2',
  ledger: 'M5 3h10v14H5zM8 7h4M8 10h4M8 13h2.5',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M13 13l4 4',
  user: 'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4M3.5 17c0-3.5 3-5 6.5-5s6.5 1.5 6.5 5',
  saved: 'M5.5 3.5h9v13L10 13l-4.5 3.5z',
  close: 'M5 5l10 10M15 5 5 15',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  copy: 'M7 7h9v9.5H7zM4 13V3.5h9',
  down: 'M5 8l5 5 5-5',
  right: 'M8 5l5 5-5 5',
  link: 'M8.5 11.5a3.5 3.5 0 0 0 5 0l2.5-2.5a3.5 3.5 0 0 0-5-5l-1 1M11.5 8.5a3.5 3.5 0 0 0-5 0L4 11a3.5 3.5 0 0 0 5 5l1-1',
} as const;

export type IconName = keyof typeof ICONS;

/** A decorative drawing. Its meaning must also be given in words. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}
