import type { Route } from '../../src/http/request/route.ts';
import { ApiUnderTest } from '../http/api-under-test.ts';

export type ApiRoute = Pick<Route, 'method' | 'path' | 'access' | 'admit' | 'reads' | 'errorsAs'>;

/** Returns all routes of the API, from the table by which requests are routed. */
export async function routeTable(): Promise<readonly ApiRoute[]> {
  const { api, stop } = await started();
  await stop();
  return api.routes;
}

async function started() {
  const underTest = await ApiUnderTest.start();
  return { api: underTest.api, stop: () => underTest.stop() };
}

const PARAMETER = /:(\w+)/g;

export const parametersOf = ({ path }: Pick<ApiRoute, 'path'>): string[] =>
  [...path.matchAll(PARAMETER)].map(([, name = '']) => name);

/** Replaces the parameters of a path. `segment` returns escaped values. */
export const pathWith = ({ path }: Pick<ApiRoute, 'path'>, segment: (parameter: string) => string): string =>
  path.replaceAll(PARAMETER, (_, name: string) => segment(name));

export const titleOf = ({ method, path }: Pick<ApiRoute, 'method' | 'path'>): string => `${method} ${path}`;
