import type { Page } from '../routing/page.ts';

/** The pages of the state machines. */
export const machinePages: readonly Page[] = [
  {
    path: '/machines',
    title: () => 'Machines',
    load: async () => (await import('./gallery-page.tsx')).GalleryPage,
  },
  { path: '/machines/replay', title: () => 'Replay', load: async () => (await import('./replay-page.tsx')).ReplayPage },
  {
    path: '/machines/:machine',
    title: ({ machine = '' }) => `${machine} · Machines`,
    load: async () => (await import('./machine-page.tsx')).MachinePage,
  },
  {
    path: '/machines/:machine/actors/:key',
    title: ({ machine, key }) => `${machine} ${key}`,
    load: async () => (await import('./actor-page.tsx')).ActorPage,
  },
  {
    path: '/inspect',
    title: () => 'Inspector',
    load: async () => (await import('../inspect/inspect-page.tsx')).InspectPage,
  },
];
