import { lazy } from '../components/lazy.tsx';

/** `LiveChart` for pages that are not about state machines: the charts are loaded after the page. */
export const LazyChart = lazy('The chart', async () => (await import('./live-chart.tsx')).LiveChart);
