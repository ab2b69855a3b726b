import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { messageOf } from '../api/problem.ts';
import { Failure, Loading } from '../components/states.tsx';
import { path } from '../routing/location.ts';
import { matchPage, type Page, type PageProps } from '../routing/page.ts';
import { PAGES } from './pages.ts';

const loaded = signal<ReadonlyMap<Page, ComponentType<PageProps>>>(new Map());
const failure = signal<string | undefined>(undefined);

async function load(page: Page): Promise<void> {
  try {
    failure.value = undefined;
    const component = await page.load();
    loaded.value = new Map([...loaded.value, [page, component]]);
  } catch (error) {
    failure.value = `This view could not be loaded: ${messageOf(error)}`;
  }
}

/** Shows the page of the address. */
export function Outlet() {
  const matched = matchPage(PAGES, path.value);
  const [error, reset] = useErrorBoundary();
  const page = matched?.page;
  const Component = page === undefined ? undefined : loaded.value.get(page);
  useEffect(() => {
    if (page !== undefined && Component === undefined) void load(page);
  }, [page]);
  useEffect(() => {
    reset();
    document.title = matched === undefined ? 'Not found · mon' : `${matched.page.title(matched.params)} · mon`;
  }, [path.value]);
  if (matched === undefined) return <Failure title="Not found" message="There is no view at this address." />;
  if (error !== undefined) return <Failure title="This view failed" message={messageOf(error)} retry={reset} />;
  if (failure.value !== undefined) {
    return <Failure title="Not loaded" message={failure.value} retry={() => void load(matched.page)} />;
  }
  return Component === undefined ? <Loading /> : <Component params={matched.params} key={path.value} />;
}
