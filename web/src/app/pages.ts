import type { ComponentType } from 'preact';
import { machinePages } from '../machines/pages.ts';
import type { Page, PageProps } from '../routing/page.ts';

const page = (path: string, title: Page['title'], load: () => Promise<ComponentType<PageProps>>): Page => ({
  path,
  title,
  load,
});

const called = (name: string) => () => name;

/** The table of all pages. Each is a file of its own, which is loaded when it is first shown. */
export const PAGES: readonly Page[] = [
  page('/n/:namespace', called('Home'), async () => (await import('../pages/home/home.tsx')).HomePage),
  page('/n/:namespace/events', called('Events'), async () => (await import('../pages/events/events.tsx')).EventsPage),
  page(
    '/n/:namespace/events/:entity/:check',
    ({ entity, check }) => `${entity} ${check}`,
    async () => (await import('../pages/event/event.tsx')).EventPage,
  ),
  page(
    '/n/:namespace/entities',
    called('Entities'),
    async () => (await import('../pages/entities/entities.tsx')).EntitiesPage,
  ),
  page(
    '/n/:namespace/entities/:entity',
    ({ entity = '' }) => entity,
    async () => (await import('../pages/entities/entity.tsx')).EntityPage,
  ),
  page(
    '/n/:namespace/silences',
    called('Silences'),
    async () => (await import('../pages/silences/silences.tsx')).SilencesPage,
  ),
  page(
    '/n/:namespace/notifications',
    called('Notifications'),
    async () => (await import('../pages/notifications/notifications.tsx')).NotificationsPage,
  ),
  page(
    '/n/:namespace/aggregates',
    called('Aggregates'),
    async () => (await import('../pages/aggregates/aggregates.tsx')).AggregatesPage,
  ),
  page('/n/:namespace/checks', called('Checks'), async () => (await import('../pages/checks/checks.tsx')).ChecksPage),
  page(
    '/n/:namespace/checks/:check',
    ({ check = '' }) => check,
    async () => (await import('../pages/checks/check.tsx')).CheckPage,
  ),
  page(
    '/n/:namespace/handlers',
    called('Handlers'),
    async () => (await import('../pages/handlers/handlers.tsx')).HandlersPage,
  ),
  page('/n/:namespace/agents', called('Agents'), async () => (await import('../pages/agents/agents.tsx')).AgentsPage),
  page(
    '/n/:namespace/resources/:kind/:name',
    ({ name = '' }) => name,
    async () => (await import('../pages/resources/resource.tsx')).ResourcePage,
  ),
  page('/n/:namespace/tour', called('Tour'), async () => (await import('../pages/tour/tour.tsx')).TourPage),
  page('/users', called('Users and roles'), async () => (await import('../pages/users/users.tsx')).UsersPage),
  page('/ledger', called('Ledger'), async () => (await import('../pages/ledger/ledger.tsx')).LedgerPage),
  page(
    '/ledger/:seq',
    ({ seq }) => `Ledger entry ${seq}`,
    async () => (await import('../pages/ledger/entry.tsx')).EntryPage,
  ),
  page('/settings', called('Settings'), async () => (await import('../pages/settings/settings.tsx')).SettingsPage),
  ...machinePages,
];
