import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/problem.ts';
import { Failure, Loading } from './states.tsx';

/** Loads a component when it is first shown, so that the page around it appears without it. */
export function lazy<P extends object>(what: string, load: () => Promise<ComponentType<P>>) {
  return function Lazy(props: P): VNode {
    const [loaded, setLoaded] = useState<{ component?: ComponentType<P>; error?: string }>({});
    const start = (): void => {
      load().then(
        (component) => setLoaded({ component }),
        (error: unknown) => setLoaded({ error: messageOf(error) }),
      );
    };
    useEffect(start, []);
    const { component: Component, error } = loaded;
    if (error !== undefined) return <Failure title={`${what} could not be loaded`} message={error} retry={start} />;
    return Component === undefined ? <Loading /> : <Component {...props} />;
  };
}
