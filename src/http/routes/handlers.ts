import { assertHandler, parseHandlerShape } from '../../resources/handler.ts';
import { type NamespacedRoutePorts, namespacedRoutes } from '../namespaced-routes.ts';
import type { Route } from '../route.ts';

export function handlerRoutes(ports: NamespacedRoutePorts): Route[] {
  return namespacedRoutes({ kind: 'handlers', parse: parseHandlerShape, assert: assertHandler }, ports);
}
